import { checkCatalogue } from './check-catalogue.js';
import { completePerks } from './complete-perks.js';
import { EXAMPLE_ROW, PERK_COLUMNS, perksFromCsv } from './perks-from-csv.js';
import { problemLine, type Problem } from './problem.js';
import { emptyCatalogue } from './resources.js';

const HEADER = 'id,title,offer_url,offer_slug,categories,partner.id,partner.name';

/** Reads and checks a file, with category 1 known. */
function read(text: string) {
  const problems: Problem[] = [];
  const perks = perksFromCsv('perks.csv', text, problems);
  const categories = [{ id: 1, slug: 'travel', name: 'Travel', file: 'categories.yaml' }];
  const found = checkCatalogue({ ...emptyCatalogue(), perks, categories });
  problems.push(...found.problems, ...found.outside.map(({ problem }) => problem));
  return { perks, problems };
}
const at = ({ row, column }: Problem) => [row, column];

describe('perksFromCsv', () => {
  it('numbers rows as a spreadsheet does, with empty rows and cells of several lines', () => {
    const { problems } = read(
      `${HEADER}\n"one","Two\nlines",https://x.example/,one,1,x,X\n\n,,,,,,\ntwo,,https://x.example/,two,1,x,X\n`,
    );
    expect(problems.map(at)).toEqual([[5, 'title']]);
    expect(problems.map(problemLine)).toEqual(['perks.csv, row 5: perk "two" has no title']);
  });

  it('reports each problem with its row and column', () => {
    const { problems } = read(
      [
        `${HEADER},is_coupon_perk,codes_per_account`,
        'one,One,fernway.example,one,1,x,X,,',
        'two,Two,https://x.example/,two,1;9;x,x,X,,',
        'one,One again,https://x.example/,three,1,,X,maybe,',
        'four,Four,https://x.example/,four,1,x,X,true,few',
      ].join('\n'),
    );
    expect(problems.map(at).sort()).toEqual(
      [
        [2, 'offer_url'],
        [3, 'categories'],
        [3, 'categories'],
        [4, 'id'],
        [4, 'is_coupon_perk'],
        [4, 'partner.id'],
        [5, 'codes_per_account'],
      ].sort(),
    );
  });

  it('reports unknown and repeated columns once, in the row of the header', () => {
    const { problems } = read(
      `${HEADER},colour,title\none,One,https://x.example/,one,1,x,X,red,One\ntwo,Two,https://x.example/,two,1,x,X,red,Two`,
    );
    expect(problems).toEqual([
      { file: 'perks.csv', row: 1, column: 'colour', message: 'unknown column "colour"' },
      { file: 'perks.csv', row: 1, column: 'title', message: 'the column "title" occurs twice' },
    ]);
  });

  it('reads columns under their labels, and ignores the example row', () => {
    const problems: Problem[] = [];
    const labels = new Map([['Offer URL', 'offer_url']]);
    const text = `title,Offer URL\n${EXAMPLE_ROW.title},https://x.example/\nOne,https://x.example/1`;
    expect(perksFromCsv('perks.csv', text, problems, labels)).toMatchObject([
      { title: 'One', offer_url: 'https://x.example/1', row: 3 },
    ]);
    expect(problems).toEqual([]);
  });

  it('reports a row with more cells than the header', () => {
    const { problems } = read(`${HEADER}\none,Two, for one,https://x.example/,one,1,x,X`);
    expect(problems.map(problemLine)[0]).toBe(
      'perks.csv, row 2: has 8 cells, but the header has 7; put cells with commas in quotes',
    );
  });

  it('reports what is not CSV', () => {
    expect(read('id,title\n"one,One').problems).toMatchObject([{ file: 'perks.csv' }]);
    expect(read('').problems.map(problemLine)).toEqual(['perks.csv: has no header']);
  });

  it('accepts is_coupon_perk: false beside a coupon, and every column of the template', () => {
    const { perks, problems } = read(
      `${PERK_COLUMNS.join(',')}\none,One,,,,,https://x.example/,one,CODE,FALSE,,words,x,X,1,,,FR;DE/Berlin`,
    );
    expect(problems).toEqual([]);
    expect(perks).toMatchObject([
      {
        coupon: 'CODE',
        is_coupon_perk: false,
        categories: [1],
        locations: [{ country: 'FR' }, { country: 'DE', region: 'Berlin' }],
        row: 2,
      },
    ]);
  });
});

describe('completePerks', () => {
  const complete = (text: string) => {
    const perks = perksFromCsv('perks.csv', text, []);
    completePerks(perks, {
      categories: [{ id: 3, name: 'Food & Drink' }],
      partners: [{ id: 'fern', name: 'Fernway' }],
    });
    const { problems, outside } = checkCatalogue({ ...emptyCatalogue(), perks });
    return { perks, problems: [...problems, ...outside.map(({ problem }) => problem)] };
  };

  it('makes missing ids from the title and the partner, and finds partners and categories by name', () => {
    const { perks } = complete(
      [
        'title,offer_url,partner.name,id,offer_slug,categories',
        'Half price,https://x.example/,Café Noir,,,food & drink;7',
        'Half price,https://x.example/,Fernway,mine,half,',
      ].join('\n'),
    );
    expect(perks).toMatchObject([
      {
        id: 'cafe-noir-half-price',
        offer_slug: 'half-price',
        partner: { id: 'cafe-noir' },
        categories: [3, 7],
      },
      { id: 'mine', offer_slug: 'half', partner: { id: 'fern' }, categories: [] },
    ]);
  });

  it('names perks without an id by their title, and reports each cause once', () => {
    const { problems } = complete(
      [
        'title,offer_url,partner.name,categories',
        'Half price,,Fernway,Space',
        ',https://x.example/,Fernway,',
        'Free tea,https://x.example/,,',
        '割引,https://x.example/,喫茶,',
      ].join('\n'),
    );
    expect(problems.map(problemLine)).toEqual([
      'perks.csv, row 2: perk "fernway-half-price" has no offer_url',
      'perks.csv, row 3: this perk has no title',
      'perks.csv, row 4: perk "Free tea" has no partner.name',
      'perks.csv, row 5: perk "割引" has no id',
      'perks.csv, row 5: perk "割引" has no offer_slug',
      'perks.csv, row 5: perk "割引" has no partner.id',
      'perks.csv, row 2: perk "fernway-half-price" names the unknown category Space',
    ]);
  });
});
