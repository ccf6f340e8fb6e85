import { askUser, pin, forget, remember, updatePlan } from './conversation-tools.ts';
import { editFile } from './edit-file.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { recallOpen } from './recall-open.ts';
import { recallSearch } from './recall-search.ts';
import { createRunCommand, type RunCommandOptions } from './run-command.ts';
import { searchFiles } from './search-files.ts';
import type { ToolDefinition } from '../tool.ts';
import { writeFile } from './write-file.ts';

/** The tools that Holdfast brings, in the order in which models see them. */
export function createBuiltInTools(options: RunCommandOptions): readonly ToolDefinition[] {
  const command = createRunCommand(options);
  const files = [listFiles, readFile, searchFiles, writeFile, editFile, command];
  return [...files, updatePlan, pin, recallSearch, recallOpen, askUser, remember, forget];
}
