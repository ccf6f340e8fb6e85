import { RENDERER_VERSION, projectView } from '../context/view/project-view.ts';
import type { Database } from '../store/database/database.ts';
import { findModelCalls } from '../store/attempts/find-model-call.ts';
import type { FoundModelCall } from '../store/attempts/find-model-call.ts';
import { readProjectionSourceOfCall } from '../store/log/view.ts';
import { viewFingerprint } from '../store/log/view-fingerprint.ts';
import { knownConversation, requireConversation } from './conversation.ts';
import { HoldfastClientError } from './errors.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';
import type { OfConversation } from './arguments.ts';
import type { ModelCallAddress, PastCall, PastView } from './types.ts';

/** Rebuilds what the model saw at a call, from the log alone, and holds it against the stored fingerprint. */
export async function rebuildView(
  database: Database,
  { conversationId, ...at }: OfConversation & ModelCallAddress,
): Promise<PastView> {
  const [call] = await findModelCalls(database, { conversationId, address: at, limit: 1 });
  if (call === undefined) {
    await requireConversation(database, conversationId);
    throw new HoldfastClientError(
      'model_call_not_found',
      `conversation ${conversationId} has no model call${describeAddress(at)}`,
    );
  }
  const { input } = await readProjectionSourceOfCall(database, call);
  const view = projectView(input);
  return {
    call: listedCall(call),
    view,
    fingerprint: await viewFingerprint(view),
    sentFingerprint: call.viewFingerprint,
    rendererVersion: RENDERER_VERSION,
    sentRendererVersion: call.rendererVersion,
  };
}

export async function listPastCalls(
  database: Database,
  options: OfConversation & { readonly before?: string; readonly limit?: number },
): Promise<Page<PastCall>> {
  const { conversationId, limit = 100 } = options;
  const [turn = 0, callNumber = 0, attempt = 0] = (options.before ?? '').split('.').map(Number);
  const before = options.before === undefined ? undefined : { turn, callNumber, attempt };
  const found = await findModelCalls(database, { conversationId, before, limit: limit + 1 });
  await knownConversation(database, conversationId, found);
  return pageOf(found.reverse().map(listedCall), limit, 'last');
}

function describeAddress({ turn, callNumber, attempt }: ModelCallAddress): string {
  const call = callNumber === undefined ? '' : ` ${callNumber}`;
  const tried = attempt === undefined ? '' : `, attempt ${attempt}`;
  const within = turn === undefined ? '' : ` in turn ${turn}`;
  return `${call}${tried}${within}` || ' yet';
}

function listedCall(call: FoundModelCall): PastCall {
  const { viewFingerprint: _, rendererVersion: __, startedAt, ...listed } = call;
  return { ...listed, startedAt: startedAt.toISOString() };
}
