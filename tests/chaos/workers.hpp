// The work of the threads beside plain calls: a function for each mode. It goes on until there is enough.
#pragma once
#include <signal.h>

#include "checked_calls.hpp"

namespace chaos {

void* threads_come_and_go(void*);
void* exceptions(void*);
void* waits(void*);
void* raises_traps(void*);
void* opens_and_closes(void* library);
void trapped(int, siginfo_t* info, void* context);  // the handler of SIGTRAP

void* forks(void*);
void* children_without_handlers(void*);
int child(int rounds);  // a child's work; its exit status

extern char** own_arguments;
bool is_for_the_first_thread();  // every third program is executed by the first thread
void execute_self();
void* executes_itself(void*);

}  // namespace chaos
