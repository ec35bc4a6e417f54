"""The report: one page, or Markdown, of what was estimated, what was measured, and what changed."""
