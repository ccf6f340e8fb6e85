import { BUILT_IN_REGISTRY } from '../context/plan/reducers/built-in.ts';
import type { Reducer, Reducers } from '../context/plan/reducers/built-in.ts';
import { ConfigurationError } from './errors.ts';

/** The built-in reducers and your own. @throws ConfigurationError `reducer_duplicate` for two of one name. */
export function reducersWith(own: readonly Reducer[]): Reducers {
  const reducers = new Map(BUILT_IN_REGISTRY);
  for (const reducer of own) {
    if (reducers.has(reducer.name)) {
      throw new ConfigurationError('reducer_duplicate', `Two reducers are called ${reducer.name}: rename yours.`);
    }
    reducers.set(reducer.name, reducer);
  }
  return reducers;
}
