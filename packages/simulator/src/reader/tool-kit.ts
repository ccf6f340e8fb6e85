import type { ToolOffer } from '../core/request.ts';

/** Which of Holdfast's tools are offered, and what of their arguments is not always there. */
export interface ToolKit {
  readonly reads: boolean;
  readonly lists: boolean;
  /** Whether it can add to the end of a file; `undefined`: it is not offered. */
  readonly write: { readonly appends: boolean } | undefined;
  readonly edits: boolean;
  readonly search: { readonly limits: boolean } | undefined;
  readonly open: { readonly limits: boolean } | undefined;
}

export function findTools(offers: readonly ToolOffer[]): ToolKit {
  const has = (name: string): boolean => offers.some((offer) => offer.name === name);
  const takes = (name: string, argument: string): boolean => {
    const properties = offers.find((offer) => offer.name === name)?.inputSchema['properties'];
    return typeof properties === 'object' && properties !== null && argument in properties;
  };
  return {
    reads: has('read_file'),
    lists: has('list_files'),
    write: has('write_file') ? { appends: takes('write_file', 'append') } : undefined,
    edits: has('edit_file'),
    search: has('recall_search') ? { limits: takes('recall_search', 'limit') } : undefined,
    open: has('recall_open') ? { limits: takes('recall_open', 'limit') } : undefined,
  };
}
