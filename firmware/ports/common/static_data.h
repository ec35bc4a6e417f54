// The static data that no boot loader and no copy from flash provides.
#pragma once

namespace ports {

// Zeroes what begins as zero, then runs the constructors of static objects, which may use all other static data.
void InitialiseStaticData();

// The two halves of it, for a port that has something to do between them.
void ZeroStaticData();
void ConstructStaticObjects();

}  // namespace ports
