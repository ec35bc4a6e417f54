"""What AllocateTensors does with the arena, one table per TFLM generation. Imported within estimate only."""
