// From the command line to a report: which recording, which report or command, where the output goes, exit status.
#pragma once

namespace fade::query {

// 0 done, 1 failed, 2 wrong use.
int main_program(int argc, char** argv);

}  // namespace fade::query
