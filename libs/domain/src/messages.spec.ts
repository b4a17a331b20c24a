import * as messages from './messages.js';

describe('the questions', () => {
  it('are all in the list, each with a subject of its own', () => {
    const questions = Object.values(messages).filter((value) => 'subject' in value);
    expect(new Set(messages.QUESTIONS)).toEqual(new Set(questions));
    expect(new Set(messages.QUESTIONS.map(({ subject }) => subject)).size).toBe(questions.length);
  });

  it('are asked of others only', () => {
    for (const { owner, askers } of messages.QUESTIONS) expect(askers).not.toContain(owner);
  });
});
