import type { ListedEntry } from '../../../client/types.ts';

export function contentBytes(entry: ListedEntry): number {
  return entry.content.reduce((sum, part) => {
    if (part.type === 'text') return sum + Buffer.byteLength(part.text);
    return part.type === 'image' || part.type === 'file' ? sum + Math.floor((part.data.length * 3) / 4) : sum;
  }, 0);
}

/** Text of an entry, with a word for each part that is none. */
export function describeContent(entry: Pick<ListedEntry, 'content'>): string {
  const words = entry.content.flatMap((part) => {
    switch (part.type) {
      case 'text':
        // An agent without rules of its own has an empty text before its pins.
        return part.text === '' ? [] : [part.text];
      case 'image':
        return [`[image, ${part.width} × ${part.height}]`];
      case 'file':
        return [`[file ${part.name}]`];
      case 'thinking':
      case 'tool_call':
        return [];
    }
  });
  return words.join('\n');
}
