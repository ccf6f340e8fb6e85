import type Anthropic from '@anthropic-ai/sdk';

/** Sections of a working summary as a prompt may name them. */
export const SECTIONS = [
  'Requests and Outcomes',
  'Completed Items',
  'Facts and Values',
  'Decisions',
  'Open Items',
  'Current State',
];

export const SUMMARIZER =
  'You write the working summary of a conversation between a user and an assistant. Output the summary and nothing else.';

function instruction(sections: readonly string[]): string {
  const named = sections.map((title) => `## ${title}\nWhat belongs under this heading.`);
  return `Write the working summary of the transcript above.\n\nUse exactly the headings below:\n\n${named.join('\n\n')}\n\nWrite the summary now, beginning with the first heading.`;
}

/** A conversation as a transcript with a frame for each message, call and result. */
export function transcript(messages: readonly Anthropic.MessageParam[]): string {
  const names = new Map<string, string>();
  const frames = messages.flatMap((message) => {
    const blocks =
      typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content;
    return blocks.map((block) => {
      if (block.type === 'text') return `<${message.role}>\n${block.text}\n</${message.role}>`;
      if (block.type === 'tool_use') {
        names.set(block.id, block.name);
        return `<tool_call name="${block.name}">\n${JSON.stringify(block.input)}\n</tool_call>`;
      }
      if (block.type !== 'tool_result') return '';
      return `<tool_result name="${names.get(block.tool_use_id) ?? ''}">\n${typeof block.content === 'string' ? block.content : ''}\n</tool_result>`;
    });
  });
  return `<transcript>\n${frames.join('\n')}\n</transcript>`;
}

export interface SummaryOrder {
  readonly messages?: readonly Anthropic.MessageParam[];
  readonly previous?: string;
  readonly parts?: readonly string[];
  readonly instructions?: string;
  readonly sections?: readonly string[];
}

/** The text of a request for a summary. */
export function summaryOrder({
  messages = [],
  previous,
  parts = [],
  instructions,
  sections = SECTIONS,
}: SummaryOrder): string {
  return [
    previous === undefined ? '' : `<previous_summary>\n${previous}\n</previous_summary>`,
    ...parts.map((part, index) => `<part number="${index + 1}">\n${part}\n</part>`),
    messages.length === 0 ? '' : transcript(messages),
    instructions === undefined
      ? ''
      : `The assistant works under these instructions:\n<agent_instructions>\n${instructions}\n</agent_instructions>`,
    instruction(sections),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}
