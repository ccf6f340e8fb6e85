import { capToolResultsReducer } from './cap-tool-results.ts';
import { clearToolResultsReducer } from './clear-tool-results.ts';
import { clipReducer } from './clip-contents.ts';
import type { Reducers } from './reducer.ts';
import { stripImagesReducer } from './strip-images.ts';

export const BUILT_IN_REDUCERS = {
  strip_images: stripImagesReducer,
  clear_tool_results: clearToolResultsReducer,
  cap_tool_results: capToolResultsReducer,
  clip: clipReducer,
};

export const BUILT_IN_REGISTRY: Reducers = new Map(Object.entries(BUILT_IN_REDUCERS));
