import { checkCatalogue } from './check-catalogue.js';
import { problemLine, type Problem } from './problem.js';
import { emptyCatalogue, type Collection } from './resources.js';
import { entryOf, parseYaml, perksOf } from './yaml-files.js';

describe('YAML files', () => {
  it('apply the defaults of a file to its perks, which can override them', () => {
    const text = `
partner: { id: x, name: X }
logo: https://x.example/logo.svg
perks:
  - { id: one, banner: https://x.example/one.jpg }
  - { id: two, partner: { id: y, name: Y }, media: { logo: https://y.example/logo.svg } }
  - { id: three, media: { banner: https://x.example/three.jpg } }`;
    const problems: Problem[] = [];
    expect(perksOf('x.yaml', parseYaml('x.yaml', text, problems), problems)).toMatchObject([
      {
        partner: { id: 'x' },
        media: { banner: 'https://x.example/one.jpg', logo: 'https://x.example/logo.svg' },
      },
      { partner: { id: 'y' }, media: { logo: 'https://y.example/logo.svg' } },
      { media: { banner: 'https://x.example/three.jpg', logo: 'https://x.example/logo.svg' } },
    ]);
    expect(problems).toEqual([]);
  });

  it('report the line of invalid YAML, once', () => {
    const problems: Problem[] = [];
    expect(perksOf('x.yaml', parseYaml('x.yaml', 'a: 1\nb: [', problems), problems)).toEqual([]);
    expect(problems).toEqual([
      { file: 'x.yaml', row: 2, message: expect.stringMatching(/^not valid YAML \(/) },
    ]);
  });

  it.each([
    ['groups: 1', 'x.yaml: groups of "c" of collections must be a list'],
    ['groups: [null]', 'x.yaml: groups.0 of "c" of collections must be a map'],
    [
      'groups: [{ name: A, rank: 1, perks: [a] }]',
      'x.yaml: groups.0.perks.0 of "c" of collections must be a map',
    ],
  ])('report the wrong type in %s', (text, line) => {
    const problems: Problem[] = [];
    const content = parseYaml('x.yaml', `id: c\nowner: o\n${text}`, problems);
    const collections = entryOf<Collection>('x.yaml', content, problems);
    expect(checkCatalogue({ ...emptyCatalogue(), collections }).problems.map(problemLine)).toEqual([line]);
  });
});
