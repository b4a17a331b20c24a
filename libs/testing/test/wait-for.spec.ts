import { waitFor } from '../src/index.js';

describe('waitFor', () => {
  it('asks again until the condition holds', async () => {
    let asked = 0;
    await waitFor(() => ++asked === 3, 'the third time');
    expect(asked).toBe(3);
  });

  it('takes expectations for a condition', async () => {
    let asked = 0;
    await waitFor(async () => expect(++asked).toBe(3), 'the third time');
    expect(asked).toBe(3);
  });

  it('says what it waited for, and why it does not hold', async () => {
    await expect(waitFor(() => false, 'the end of time', 50)).rejects.toThrow(
      'the end of time did not come within 50 ms',
    );
    const failing = waitFor(() => Promise.reject(new Error('still closed')), 'the opening', 50);
    await expect(failing).rejects.toThrow('the opening did not come within 50 ms: still closed');
  });
});
