import type { ToolOffer } from '../core/request.ts';

/** The tools that the reader knows how to use, found among those offered. */
export interface ToolKit {
  readonly read: PathTool | undefined;
  readonly list: PathTool | undefined;
  readonly write: WriteTool | undefined;
  readonly edit: EditTool | undefined;
  readonly search: { readonly name: string; readonly limits: boolean } | undefined;
  readonly open: { readonly name: string; readonly limits: boolean } | undefined;
}

export interface PathTool {
  readonly name: string;
  /** Name of the argument that takes the path. */
  readonly path: string;
  /** Lists what is below as well when this argument is true. */
  readonly recursive: boolean;
}

export interface WriteTool extends PathTool {
  readonly content: string;
  /** Whether it can add to the end of a file. */
  readonly appends: boolean;
}

export interface EditTool extends PathTool {
  readonly oldText: string;
  readonly newText: string;
}

/** Looks through the offered schemas; a tool whose arguments the reader does not understand is not used. */
export function findTools(offers: readonly ToolOffer[]): ToolKit {
  const byName = (name: string): ToolOffer | undefined => offers.find((offer) => offer.name === name);
  const search = byName('recall_search');
  const open = byName('recall_open');
  return {
    read: pathTool(byName('read_file')),
    list: pathTool(byName('list_files')),
    write: writeTool(byName('write_file')),
    edit: editTool(byName('edit_file')),
    search: search === undefined ? undefined : { name: search.name, limits: propertiesOf(search).includes('limit') },
    open: open === undefined ? undefined : { name: open.name, limits: propertiesOf(open).includes('limit') },
  };
}

function propertiesOf(offer: ToolOffer): readonly string[] {
  const properties = offer.inputSchema['properties'];
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function firstOf(names: readonly string[], wanted: readonly string[]): string | undefined {
  return wanted.find((name) => names.includes(name));
}

function pathTool(offer: ToolOffer | undefined): PathTool | undefined {
  if (offer === undefined) return undefined;
  const names = propertiesOf(offer);
  const path = firstOf(names, ['path', 'file_path', 'file', 'filename', 'directory']);
  return path === undefined ? undefined : { name: offer.name, path, recursive: names.includes('recursive') };
}

function writeTool(offer: ToolOffer | undefined): WriteTool | undefined {
  const tool = pathTool(offer);
  if (offer === undefined || tool === undefined) return undefined;
  const content = firstOf(propertiesOf(offer), ['content', 'text', 'contents']);
  return content === undefined ? undefined : { ...tool, content, appends: propertiesOf(offer).includes('append') };
}

function editTool(offer: ToolOffer | undefined): EditTool | undefined {
  const tool = pathTool(offer);
  if (offer === undefined || tool === undefined) return undefined;
  const names = propertiesOf(offer);
  const oldText = firstOf(names, ['old_text', 'old_string', 'old']);
  const newText = firstOf(names, ['new_text', 'new_string', 'new']);
  return oldText === undefined || newText === undefined ? undefined : { ...tool, oldText, newText };
}
