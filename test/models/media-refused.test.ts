import { describe, expect, test } from 'vitest';
import { classifyError } from '../../src/models/errors/classify.ts';

function assess(body: unknown, status = 400) {
  return classifyError({ provider: 'some', status, headers: {}, body, text: undefined, streamed: false }, 0);
}

describe('media that a model takes none of', () => {
  test.each([
    [500, 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
    [404, 'No endpoints found that support image input'],
    [400, 'Invalid content type. image_url is only supported by certain models.'],
    [400, 'At most 0 image(s) may be provided in one prompt.'],
    [400, 'Image input is not enabled for this model'],
    [400, 'This model does not support image content.'],
    [422, 'unknown variant `image_url`, expected `text`'],
    [400, 'some-7b is not a multimodal model'],
  ])('HTTP %d "%s" leaves all media out, and without any is no overflow', (status, message) => {
    expect(assess({ error: { message } }, status)).toMatchObject({ cause: 'media_refused', repair: 'drop_media' });
  });

  test('a limit on their size or their number is another thing', () => {
    expect(assess('At most 4 image(s) may be provided in one prompt.').cause).toBe('payload_too_large');
    expect(assess('image of 6 MB exceeds the maximum of 5 MB').cause).toBe('payload_too_large');
  });
});
