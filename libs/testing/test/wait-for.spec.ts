import { waitFor } from '../src/index.js';

describe('waitFor', () => {
  it('polls until the condition holds', async () => {
    let requested = 0;
    await waitFor(() => ++requested === 3, 'the third time');
    expect(requested).toBe(3);
  });

  it('accepts expectations as a condition', async () => {
    let requested = 0;
    await waitFor(async () => expect(++requested).toBe(3), 'the third time');
    expect(requested).toBe(3);
  });

  it('reports what it waited for, and why the condition does not hold', async () => {
    await expect(waitFor(() => false, 'the end of time', 50)).rejects.toThrow(
      'Timed out after 50 ms waiting for the end of time',
    );
    const failing = waitFor(() => Promise.reject(new Error('still closed')), 'the opening', 50);
    await expect(failing).rejects.toThrow('Timed out after 50 ms waiting for the opening: still closed');
  });
});
