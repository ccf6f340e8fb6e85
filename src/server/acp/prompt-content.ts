import type { ContentBlock } from '@agentclientprotocol/sdk';
import { RequestError } from '@agentclientprotocol/sdk';
import { attachedText } from '../../context/log/content.ts';
import type { MessagePart } from '../../client/arguments.ts';

/** A block of a prompt as a part of a message. @throws RequestError for what no model reads */
export function messagePart(block: ContentBlock): MessagePart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'resource_link':
      return { type: 'text', text: `[${block.name}: ${block.uri}]` };
    case 'resource':
      if ('text' in block.resource)
        return { type: 'text', text: attachedText(block.resource.uri, block.resource.text) };
      throw refused(`models do not read the resource ${block.resource.uri}`, 'content_refused');
    case 'image':
      return { type: 'image', data: block.data };
    default:
      throw refused(`models do not read content of type ${block.type}`, 'content_refused');
  }
}

export function refused(message: string, code = 'invalid_argument'): RequestError {
  return RequestError.invalidParams({ code }, message);
}
