import { useQuery } from '@tanstack/react-query';
import { read } from '../api/request.ts';
import type { Lineage, Summary } from '../api/types.ts';
import { Fold } from '../text/fold.tsx';
import { count, counted, dollars, duration, percent, tokens } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { Dropped } from './dropped.tsx';
import type { OpenOriginal } from './original.tsx';

interface CompactionCardProps {
  readonly conversationId: string;
  readonly compactionId: string;
  readonly open: OpenOriginal;
}

/** What one compaction made smaller, and its summary. */
export function CompactionCard({ conversationId, compactionId, open }: CompactionCardProps) {
  const { data: summaries } = useQuery({
    queryKey: ['of-conversation', conversationId, 'summaries'],
    queryFn: () => read('/conversations/{conversationId}/summaries', { conversationId }),
  });
  const { data: lineages } = useQuery({
    queryKey: ['of-conversation', conversationId, 'lineage'],
    queryFn: () => read('/conversations/{conversationId}/lineage', { conversationId }),
  });
  const summary = summaries?.items.find((each) => each.compactionId === compactionId);
  const lineage = lineages?.items.find((each) => each.compactionId === compactionId);
  if (summary === undefined) return <p className="quiet">Reading the compaction…</p>;
  return (
    <div className="compaction-card">
      <Figures summary={summary} />
      {summary.sections.map(({ title, text, open: isOpen }) => (
        <details className="fold" key={title} open={isOpen}>
          <summary>{printable(title)}</summary>
          <p className="text">{printable(text)}</p>
        </details>
      ))}
      {summary.sections.length === 0 && summary.text !== null && (
        <details className="fold">
          <summary>Summary</summary>
          <p className="text">{printable(summary.text)}</p>
        </details>
      )}
      {lineage !== undefined && <Targets lineage={lineage} open={open} />}
      {lineage !== undefined && <Originals lineage={lineage} open={open} />}
      <Dropped conversationId={conversationId} compactionId={compactionId} open={open} />
    </div>
  );
}

const TRIGGERS = {
  threshold: 'proactive: the threshold was reached',
  overflow: 'reactive: the window overflowed',
  manual: 'asked for by a person',
  maintenance: 'maintenance of the context',
} as const satisfies Record<Summary['trigger'], string>;

function Figures({ summary }: { readonly summary: Summary }) {
  const { tokensBefore, tokensAfter, form, trigger, tries, model, cost, modelCalls, durationMilliseconds } = summary;
  return (
    <>
      <p className="figures">
        {tokens(tokensBefore)} → {tokens(tokensAfter)} tokens{' '}
        <span className="quiet">(−{percent(tokensBefore - tokensAfter, tokensBefore)})</span>
      </p>
      <p className="quiet facts">
        <span>{TRIGGERS[trigger]}</span>
        <span>form: {printable(form.replaceAll('_', ' '))}</span>
        <span>preset: {printable(summary.preset)}</span>
        {summary.text !== null && <span>{counted(summary.entriesCovered, 'entry', 'entries')} covered</span>}
        <span>{duration(durationMilliseconds)}</span>
        {tries > 1 && <span>{count(tries)} forms tried</span>}
        {model !== null && (
          <span>
            {printable(model)}, {counted(modelCalls, 'call')}, {dollars(cost)}
          </span>
        )}
        {!summary.inForce && <span>not shown to the model</span>}
      </p>
    </>
  );
}

interface LineageProps {
  readonly lineage: Lineage;
  readonly open: OpenOriginal;
}

/** Entries that the pass shows shorter. */
function Targets({ lineage: { changes }, open }: LineageProps) {
  if (changes.length === 0) return null;
  return (
    <Fold summary={`${counted(changes.length, 'entry', 'entries')} shown shorter`}>
      {() => (
        <div className="wide" tabIndex={0} role="region" aria-label="Entries that are shown shorter">
          <table>
            <thead>
              <tr>
                <th>Entry</th>
                <th>Tool</th>
                <th>Method</th>
                <th className="number">Characters</th>
                <th className="number">Reduction</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((change) => (
                <Target key={`${change.entryId} ${change.method}`} change={change} open={open} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Fold>
  );
}

interface TargetProps extends Pick<LineageProps, 'open'> {
  readonly change: Lineage['changes'][number];
}

function Target({ change, open }: TargetProps) {
  const { entryId, sequence, toolName, method, charactersBefore, charactersAfter } = change;
  return (
    <tr>
      <td>
        <button type="button" className="link" onClick={() => open(entryId)}>
          {sequence}
        </button>
      </td>
      <td>{printable(toolName ?? '')}</td>
      <td>{method}</td>
      <td className="number">
        {count(charactersBefore)} → {count(charactersAfter)}
      </td>
      <td className="number">{percent(charactersBefore - charactersAfter, charactersBefore)}</td>
    </tr>
  );
}

/** From a summary to each original that it was made from. */
function Originals({ lineage: { parts }, open }: LineageProps) {
  const entries = new Map(parts.flatMap((part) => part.entries).map((entry) => [entry.entryId, entry]));
  if (entries.size === 0) return null;
  return (
    <Fold summary={`Made from ${counted(entries.size, 'original')}`}>
      {() => (
        <p className="row">
          {[...entries.values()].map(({ entryId, sequence }) => (
            <button type="button" className="link" key={entryId} onClick={() => open(entryId)}>
              {sequence}
            </button>
          ))}
        </p>
      )}
    </Fold>
  );
}
