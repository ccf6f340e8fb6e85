import type { TimelineEvent } from '../../../client/types.ts';
import { formatCount, plural } from '../text/numbers.ts';

/** What is told of a turn in passing. */
export interface NoticeWords {
  readonly level: 'information' | 'warning';
  readonly text: string;
}

/** Words for events that change nothing else on the screen. */
export function noticeWords(event: TimelineEvent): NoticeWords {
  switch (event.kind) {
    case 'model_fallback': {
      const { from, to, reason } = event.data;
      return { level: 'warning', text: `${from} is given up (${reason}): ${to} takes over, its window checked first.` };
    }
    case 'model_window_assumed': {
      const { model, window } = event.data;
      return {
        level: 'warning',
        text: `The window of ${model} is not known: ${formatCount(window)} tokens are assumed. Set "window" of this model under "models" in holdfast.yaml.`,
      };
    }
    case 'activity_failing': {
      const { activity, code } = event.data;
      return {
        level: 'warning',
        text: `${activity} fails again and again (${code}); after ten failures the turn ends.`,
      };
    }
    case 'secrets_redacted':
      return {
        level: 'information',
        text: `${plural(event.data.count, 'secret')} replaced for a summary; the originals are unchanged.`,
      };
    default:
      return { level: 'information', text: figures(event) };
  }
}

function figures({ kind, data }: { readonly kind: string; readonly data: object }): string {
  const details = Object.entries(data).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [`${name} ${value}`] : [],
  );
  return details.length === 0 ? kind : `${kind}: ${details.join(', ')}`;
}
