import { findFact, type Finding } from './find-fact.ts';
import type { Fact, FactQuestion } from './fact-question.ts';
import type { Knowledge } from './knowledge.ts';
import { foldIntoItems, type Memory } from './memory-lines.ts';
import { recalledSegments } from './recall-evidence.ts';
import { filesOfFact, type Item } from './reading-task.ts';

/** What the reader knows of one fact: from a summary, from the file's own results, from what recall brought back. */
export function knownFact(knowledge: Knowledge, item: Item, fact: Fact): Finding {
  const key = JSON.stringify([item.label, fact.name, fact.words]);
  const known = knowledge.findings.get(key) ?? workOut(knowledge, item, fact);
  knowledge.findings.set(key, known);
  return known;
}

function workOut(knowledge: Knowledge, item: Item, fact: Fact): Finding {
  const facts = memoryOf(knowledge, item)?.facts;
  const remembered = facts?.get(fact.name) ?? facts?.get(genericName(fact.question) ?? '');
  if (remembered !== undefined) return { state: 'found', value: remembered };
  const findings = filesOfFact(item, fact).map((path): Finding => {
    const seen = findFact(fact.question, knowledge.files.get(path)?.segments ?? []);
    if (seen.state !== 'unknown') return seen;
    if (knowledge.files.get(path)?.failure !== undefined) return { state: 'absent' };
    return findFact(fact.question, recalledSegments(knowledge, item, fact, path));
  });
  return (
    findings.find((finding) => finding.state === 'found') ??
    findings.find((finding) => finding.state === 'unknown') ?? { state: 'absent' }
  );
}

function memoryOf(knowledge: Knowledge, item: Item): Memory | undefined {
  return foldIntoItems([item], knowledge.memory.items).find((memory) => memory.label === item.label);
}

/** What a summarizer that does not know the task calls a fact worth keeping. */
export function genericName(question: FactQuestion): string | undefined {
  if (question.kind === 'value') return `value of ${question.key}`;
  return question.kind === 'first_sentence' ? 'first sentence' : undefined;
}

/** Whether a file needs no more reading, as far as the request tells. */
export function isRead(knowledge: Knowledge, item: Item, path: string): boolean {
  const known = knowledge.files.get(path);
  if (known !== undefined) return known.next === undefined;
  const read = memoryOf(knowledge, item)?.read ?? [];
  return read === 'all' || read.includes(path);
}
