import { CAPABILITIES } from '../../../models/conformance/capability.ts';
import type { ConformanceFinding, ConformanceStatus } from '../../../models/conformance/capability.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';

const COLORS: Readonly<Record<ConformanceStatus, 'green' | 'yellow' | 'dim' | 'red'>> = {
  works: 'green',
  limited: 'yellow',
  missing: 'dim',
  fails: 'red',
  not_checked: 'dim',
};
const WIDEST_STATUS = Math.max(...Object.keys(COLORS).map((status) => status.length));
const WIDEST_NAME = Math.max(...CAPABILITIES.map((name) => name.length));

/** One row of the table of `holdfast model test`; rows come one by one, so their widths are fixed. */
export function findingLine({ capability, status, detail }: ConformanceFinding, style: Style): string {
  const words = (name: string): string => name.replaceAll('_', ' ');
  const state = style[COLORS[status]](words(status).padEnd(WIDEST_STATUS));
  return `${words(capability).padEnd(WIDEST_NAME)}  ${state}  ${safeLine(detail)}`;
}
