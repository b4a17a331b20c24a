import * as messages from './messages.js';

describe('the questions', () => {
  it('are all in the list, each with a subject of its own', () => {
    const { QUESTIONS, ERASE, ...others } = messages;
    const questions = [
      ...Object.values(others).filter((value) => 'subject' in value),
      ...Object.values(ERASE),
    ];
    expect(new Set(QUESTIONS)).toEqual(new Set(questions));
    expect(new Set(QUESTIONS.map(({ subject }) => subject)).size).toBe(questions.length);
  });

  it('are asked of others only', () => {
    for (const { owner, askers } of messages.QUESTIONS) expect(askers).not.toContain(owner);
  });
});
