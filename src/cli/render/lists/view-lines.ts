import type { PastCall, PastView } from '../../../client/types.ts';
import type { ContentPart } from '../../../context/log/content.ts';
import { isSummaryMessage } from '../../../context/summary/summary-message.ts';
import type { ViewMessage } from '../../../context/view/view.ts';
import { formatCount } from '../text/numbers.ts';
import { safeLine, safeText } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';

interface ViewOptions {
  readonly style: Style;
}

const STATES: Readonly<Record<PastCall['state'], string>> = {
  registered: 'without an end',
  answered: 'answered',
  failed: 'failed',
};

export function callListLines(calls: readonly PastCall[], { style }: ViewOptions): string[] {
  return calls.map((call) =>
    [
      style.bold(callAddress(call).padEnd(8)),
      STATES[call.state].padEnd(14),
      `${tokensOf(call)} tokens`.padEnd(16),
      safeLine(call.model),
      style.dim(`head ${call.headEntryId}`),
    ].join('  '),
  );
}

/** The whole request: who was asked, whether it is what was sent, then system text, tools and messages. */
export function viewLines(past: PastView, { style }: ViewOptions): string[] {
  const { call, view } = past;
  return [
    style.bold(
      `call ${callAddress(call)} · ${STATES[call.state]} · ${safeLine(call.model)} · ${tokensOf(call)} tokens`,
    ),
    ...fingerprintLines(past, style),
    ...section('system', safeText(view.system), style),
    ...section(
      `tools (${view.tools.length})`,
      view.tools.map((tool) => `${safeLine(tool.name)}: ${safeLine(tool.description)}`).join('\n'),
      style,
    ),
    ...view.messages.flatMap((message) => messageLines(message, style)),
  ];
}

function callAddress({ turn, callNumber, attempt }: PastCall): string {
  return `${turn}.${callNumber}.${attempt}`;
}

function tokensOf({ reportedTokens, estimatedTokens }: PastCall): string {
  return reportedTokens === null ? `about ${formatCount(estimatedTokens)}` : formatCount(reportedTokens);
}

function fingerprintLines(past: PastView, style: Style): string[] {
  if (past.fingerprint === past.sentFingerprint) {
    return [style.green(`✓ This is what was sent, byte for byte (fingerprint ${past.fingerprint.slice(0, 16)}…).`)];
  }
  const reason =
    past.rendererVersion === past.sentRendererVersion
      ? 'Something in the log is not as it was: please report it.'
      : `It was rendered by version ${past.sentRendererVersion} of the projection; this is version ${past.rendererVersion}.`;
  return [style.yellow(`! This is not byte for byte what was sent. ${reason}`)];
}

function section(title: string, text: string, style: Style): string[] {
  return text === '' ? [] : ['', style.cyan(`── ${title}`), ...text.split('\n')];
}

function messageLines(message: ViewMessage, style: Style): string[] {
  switch (message.role) {
    case 'user':
      return section(
        message.origin === 'user' ? 'user' : `user (${message.origin})`,
        contentText(message.content),
        style,
      );
    case 'assistant':
      return section(
        isSummaryMessage(message) ? 'assistant (summary)' : 'assistant',
        contentText(message.content),
        style,
      );
    case 'tool_results':
      return message.results.flatMap((result) =>
        section(
          `${result.isError ? 'error' : 'result'} of ${safeLine(result.name)}`,
          contentText(result.content),
          style,
        ),
      );
  }
}

function contentText(content: readonly ContentPart[]): string {
  return content.map(partText).join('\n');
}

function partText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return safeText(part.text);
    case 'thinking':
      return `[thinking] ${safeText(part.text)}`;
    case 'tool_call':
      return `→ ${safeLine(part.name)} ${safeText(part.arguments)}`;
    case 'image':
      return `[image, ${part.width} × ${part.height}]`;
    case 'file':
      return `[file ${safeLine(part.name)}]`;
  }
}
