#!/usr/bin/env node
// Decides that this process is the program.

import { runProgram } from './program.ts';

await runProgram();
