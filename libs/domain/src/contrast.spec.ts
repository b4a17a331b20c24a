import { contrast } from './contrast.js';

it('computes the WCAG contrast ratio', () => {
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21);
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrast('#0f5c4c', '#0f5c4c')).toBeCloseTo(1);
});
