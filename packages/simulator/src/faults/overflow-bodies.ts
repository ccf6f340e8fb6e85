import type { Protocol } from '../core/request.ts';
import { vendorError, type VendorError } from '../core/vendor-error.ts';

/** The numbers that an overflow error names, in tokens. */
interface OverflowNumbers {
  readonly actual: number;
  readonly limit: number;
}

/** An input that is too long, in the words of the vendor whose protocol is spoken. */
export function overflowRefusal(protocol: Protocol, { actual, limit }: OverflowNumbers): VendorError {
  switch (protocol) {
    case 'anthropic':
      return vendorError(protocol, { status: 400, message: `prompt is too long: ${actual} tokens > ${limit} maximum` });
    case 'chat': {
      const message = `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${actual} tokens. Please reduce the length of the messages.`;
      return vendorError(protocol, { status: 400, message, code: 'context_length_exceeded', parameter: 'messages' });
    }
    case 'responses': {
      const message = 'Your input exceeds the context window of this model. Please adjust your input and try again.';
      return vendorError(protocol, { status: 400, message, code: 'context_length_exceeded', parameter: 'input' });
    }
  }
}

/** Anthropic refuses an input that fits, when it does not fit together with the longest answer. */
export function overflowWithAnswer({ actual, limit }: OverflowNumbers, maximumOutput: number): VendorError {
  const message = `input length and \`max_tokens\` exceed context limit: ${actual} + ${maximumOutput} > ${limit}, decrease input length or \`max_tokens\` and try again`;
  return vendorError('anthropic', { status: 400, message });
}
