import fc from 'fast-check';
import { contrast, takesWhiteText } from '../../src/page/color.js';

it('knows the contrast of WCAG', () => {
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrast('#0f5c4c', '#0f5c4c')).toBeCloseTo(1);
});

it('chooses text that reads at 4.5:1 on any brand colour', () => {
  const channel = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(channel, channel, channel, (...parts) => {
      const color = `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
      expect(contrast(color, takesWhiteText(color) ? '#ffffff' : '#000000')).toBeGreaterThanOrEqual(4.5);
    }),
  );
});
