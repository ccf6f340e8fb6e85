import { formatCount, plural } from './numbers.ts';

/** What is told of a turn in passing. */
export interface NoticeWords {
  readonly level: 'information' | 'warning';
  readonly text: string;
}

/** Words for the rows of the timeline that are told and change nothing else on the screen, unknown ones included. */
export function noticeWords(kind: string, data: Readonly<Record<string, unknown>>): NoticeWords {
  const say = (name: string): string => (typeof data[name] === 'string' ? data[name] : 'unknown');
  switch (kind) {
    case 'model_fallback':
      return {
        level: 'warning',
        text: `${say('from')} is given up (${say('reason')}): ${say('to')} takes over, its window checked first.`,
      };
    case 'model_window_assumed': {
      const window = typeof data['window'] === 'number' ? formatCount(data['window']) : 'unknown';
      return {
        level: 'warning',
        text: `The window of ${say('model')} is not known: ${window} tokens are assumed. Set "window" of this model under "models" in holdfast.yaml.`,
      };
    }
    case 'secrets_redacted': {
      const count = typeof data['count'] === 'number' ? data['count'] : 0;
      const where = data['where'] === 'input' ? 'what a summary was made from' : 'a summary';
      return {
        level: 'information',
        text: `${plural(count, 'secret')} replaced in ${where}; the originals are unchanged.`,
      };
    }
    default: {
      const details = Object.entries(data).flatMap(([name, value]) =>
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
          ? [`${name} ${value}`]
          : [],
      );
      return { level: 'information', text: details.length === 0 ? kind : `${kind}: ${details.join(', ')}` };
    }
  }
}
