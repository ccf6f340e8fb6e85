import type { ContentBlock } from '@agentclientprotocol/sdk';
import { RequestError } from '@agentclientprotocol/sdk';
import { attachedText } from '../../context/log/content.ts';
import type { MessagePart } from '../../client/arguments.ts';

/** A prompt of an editor as the content of a message. @throws RequestError for what no model reads */
export function promptContent(prompt: readonly ContentBlock[]): readonly MessagePart[] {
  return prompt.map(toPart);
}

function toPart(block: ContentBlock): MessagePart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'resource_link':
      return { type: 'text', text: `[${block.name}: ${block.uri}]` };
    case 'resource':
      if ('text' in block.resource)
        return { type: 'text', text: attachedText(block.resource.uri, block.resource.text) };
      throw unreadable(`the resource ${block.resource.uri}`);
    case 'image':
      return { type: 'image', data: block.data };
    default:
      throw unreadable(`content of type ${block.type}`);
  }
}

function unreadable(what: string): RequestError {
  return RequestError.invalidParams({ code: 'content_refused' }, `models do not read ${what}`);
}
