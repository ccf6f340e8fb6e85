import type { ProviderHosting } from '../models/provider.ts';
import type { FoundProblem } from './check/describe-option-problem.ts';
import type { ProviderOptions } from './options/options.ts';

/** What each cloud needs, and the protocols it speaks. */
const CLOUDS = {
  azure: { needs: ['baseUrl', 'apiVersion'], protocols: ['chat', 'responses'] },
  bedrock: { needs: ['region'], protocols: ['anthropic'] },
  vertex: { needs: ['region', 'project'], protocols: ['anthropic'] },
} as const;

/** What a provider of the user's own lacks, or says of a cloud that does not fit it. Pure. */
export function ownProviderProblems(name: string, provider: ProviderOptions): FoundProblem[] {
  const missing = (option: string, message: string): FoundProblem => ({
    code: 'missing_option',
    path: ['providers', name, option],
    message,
  });
  const { hosting, protocol } = provider;
  const needed = hosting === undefined ? (['baseUrl'] as const) : CLOUDS[hosting].needs;
  const whose =
    hosting === undefined ? 'a provider of your own needs protocol and baseUrl' : `hosting: ${hosting} needs it`;
  const problems = (['protocol', ...needed] as const)
    .filter((option) => provider[option] === undefined)
    .map((option) => missing(option, `is missing: ${whose}`));
  if (hosting === undefined || protocol === undefined) return problems;
  const { protocols } = CLOUDS[hosting];
  if (protocols.some((each) => each === protocol)) return problems;
  const message = `is ${protocol}: models on ${hosting} speak ${protocols.join(' or ')}`;
  return [...problems, { code: 'contradiction', path: ['providers', name, 'protocol'], message }];
}

/** The cloud of a provider; absent without one. */
export function hostingOf({ hosting, region = '', project = '', apiVersion = '' }: ProviderOptions): {
  readonly hosting?: ProviderHosting;
} {
  switch (hosting) {
    case undefined:
      return {};
    case 'azure':
      return { hosting: { cloud: hosting, apiVersion } };
    case 'bedrock':
      return { hosting: { cloud: hosting, region } };
    case 'vertex':
      return { hosting: { cloud: hosting, region, project } };
  }
}
