/** Names of the tools that Holdfast brings, in the order in which models see them. */
export const LIST_FILES = 'list_files';
export const READ_FILE = 'read_file';
export const SEARCH_FILES = 'search_files';
export const WRITE_FILE = 'write_file';
export const EDIT_FILE = 'edit_file';
export const RUN_COMMAND = 'run_command';
export const UPDATE_PLAN = 'update_plan';
export const PIN = 'pin';
export const RECALL_SEARCH = 'recall_search';
export const RECALL_OPEN = 'recall_open';
export const ASK_USER = 'ask_user';
export const REMEMBER = 'remember';
export const FORGET = 'forget';

export const BUILT_IN_TOOL_NAMES: readonly string[] = [
  LIST_FILES,
  READ_FILE,
  SEARCH_FILES,
  WRITE_FILE,
  EDIT_FILE,
  RUN_COMMAND,
  UPDATE_PLAN,
  PIN,
  RECALL_SEARCH,
  RECALL_OPEN,
  ASK_USER,
  REMEMBER,
  FORGET,
];

/** Given to agents that keep memories across conversations. */
export const MEMORY_TOOL_NAMES: readonly string[] = [REMEMBER, FORGET];
