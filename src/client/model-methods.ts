import { readCosts } from '../store/conversations/costs.ts';
import type { CostGroup, CostRow } from '../store/conversations/costs.ts';
import { listLearnedWindows, listServedModels, storeServedModel } from '../store/providers/model-facts.ts';
import type { LearnedWindow, ServedModel } from '../store/providers/model-facts.ts';
import { endPause, listPauses } from '../store/providers/provider-pauses.ts';
import type { ProviderPause } from '../store/providers/provider-pauses.ts';
import { listAgentsOfWorkers } from '../store/upkeep/worker-sessions.ts';
import { named, numberOf } from './arguments.ts';
import type { ClientContext } from './client-context.ts';
import { requireConversation } from './conversation.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';

export const MODEL_SHAPES = {
  listLearnedWindows: { days: numberOf('days') },
  endPause: { provider: named },
};

/** What model calls cost, and what is known about models and providers. */
export class ModelMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * What model calls cost, the most expensive group first. Turns and steps come in their order.
   * @param options.by one row for each of these
   * @param options.since only calls at or after this time. Default: all
   * @param options.conversationId required for `turn` and `step`. Default: all conversations of the client's tenant
   * @param options.limit how many rows. Default: 500
   */
  async costs(options: {
    readonly by: CostGroup;
    readonly since?: string;
    readonly conversationId?: string;
    readonly limit?: number;
  }): Promise<Page<CostRow>> {
    const { database, tenant } = this.#context;
    const { since = null, limit = 500, ...of } = options;
    if (of.conversationId !== undefined) await requireConversation(database, of.conversationId);
    const from = since === null ? null : new Date(since);
    return pageOf(await readCosts(database, { ...of, tenant, since: from, limit: limit + 1 }), limit);
  }

  /** Models that servers listed themselves, with their windows. */
  listServed(): Promise<ServedModel[]> {
    return listServedModels(this.#context.database);
  }

  /** Names of the agents that running workers have, also of those that a program defines. */
  listAgents(): Promise<string[]> {
    return listAgentsOfWorkers(this.#context.database);
  }

  /** Stores what a server lists about a model. New turns use it. */
  storeServed(served: Omit<ServedModel, 'listedAt'>): Promise<void> {
    return storeServedModel(this.#context.database, served);
  }

  /** Windows that servers named in errors. @param options.days only windows of the last so many days */
  listLearnedWindows(options: { readonly days: number }): Promise<LearnedWindow[]> {
    return listLearnedWindows(this.#context.database, options.days);
  }

  /** Providers that no worker calls before a time, because of a rate limit. */
  listPauses(): Promise<ProviderPause[]> {
    return listPauses(this.#context.database);
  }

  /** Lets workers call a provider again at once. @param options.provider its name @returns whether it was paused */
  endPause(options: { readonly provider: string }): Promise<boolean> {
    return endPause(this.#context.database, options.provider);
  }
}
