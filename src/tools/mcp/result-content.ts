import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { attachedText } from '../../context/log/attached-text.ts';
import { isReadAsText } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { countPages, isPdf, measurePicture } from '../runtime/media.ts';

type Block = CallToolResult['content'][number];

/** The content of a result as parts. Structured content counts where a server gives no text of it. */
export function contentOf({ content, structuredContent }: CallToolResult): readonly ContentPart[] {
  const parts = content.map(toPart);
  const hasText = parts.some((part) => part.type === 'text');
  return structuredContent === undefined || hasText ? parts : [textPart(JSON.stringify(structuredContent)), ...parts];
}

function toPart(block: Block): ContentPart {
  switch (block.type) {
    case 'text':
      return textPart(block.text);
    case 'image':
      return mediaPart('image', block.mimeType, block.data);
    case 'audio':
      return mediaPart('audio', block.mimeType, block.data);
    case 'resource_link':
      return textPart(`[resource ${block.name}: ${block.uri}${block.description ? `, ${block.description}` : ''}]`);
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream' } = block.resource;
      return 'text' in block.resource
        ? textPart(attachedText(uri, block.resource.text))
        : mediaPart(uri, mimeType, block.resource.blob);
    }
  }
}

/** What the bytes are counts, not what the server says of them. */
function mediaPart(name: string, mediaType: string, data: string): ContentPart {
  const bytes = Buffer.from(data, 'base64');
  const picture = measurePicture(bytes);
  if (picture !== undefined) return { type: 'image', ...picture, data };
  if (isPdf(bytes)) return { type: 'file', mediaType: 'application/pdf', name, data, pages: countPages(bytes) };
  if (isReadAsText(mediaType)) return textPart(attachedText(name, bytes.toString('utf8')));
  return textPart(`[${name} of type ${mediaType}, ${bytes.length} bytes: not shown, because models do not read it]`);
}

function textPart(text: string): ContentPart {
  return { type: 'text', text };
}
