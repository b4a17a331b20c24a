import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsOmittable, IsText } from '@perkway/platform';
import { Type } from 'class-transformer';
import { IsDefined, IsISO8601, Matches, ValidateNested } from 'class-validator';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MAX_COMMENT = 2_000;
const MESSAGE = { message: '$property must be a day as YYYY-MM-DD' };
const COMMENT = 'The second mailing had the weekend first.';
/** Accepts only days that exist. */
const IsDay = () => applyDecorators(IsISO8601({ strict: true }, MESSAGE), Matches(DAY, MESSAGE));

@ApiSchema({ name: 'ReportRange' })
export class ReportRangeDto {
  @ApiProperty({ format: 'date', description: 'First day; days are in UTC', example: '2026-10-01' })
  @IsDay()
  from: string;
  @ApiProperty({ format: 'date', description: 'Last day, inclusive', example: '2026-10-31' })
  @IsDay()
  to: string;
}

@ApiSchema({ name: 'CreateReport' })
export class CreateReportDto {
  @ApiProperty({ example: 'ostervale-spring-travel' })
  @IsText(1, 100)
  campaignId: string;
  @ApiProperty({ type: ReportRangeDto })
  // @ValidateNested() skips undefined.
  @IsDefined()
  @ValidateNested()
  @Type(() => ReportRangeDto)
  range: ReportRangeDto;
  @ApiProperty({ example: 'Spring travel, October' })
  @IsText(1, 200)
  title: string;
  @ApiProperty({ description: 'For the readers, in the words of the sender', example: COMMENT })
  @IsOmittable()
  @IsText(1, MAX_COMMENT)
  comment?: string | null;
  @ApiProperty({ format: 'date-time', example: '2027-01-31T00:00:00.000Z' })
  @IsISO8601({ strict: true })
  expiresAt: string;
}

@ApiSchema({ name: 'CreatedReport' })
export class CreatedReportDto {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id: string;
  @ApiProperty({
    description: 'Anyone with this URL can read the report. It is shown only once',
    example: 'https://console.perkway.example/report#VXKXSi0R3l7wPo2cCzNkXvPw2Y0lIa0c1e3Gk8Yx4uQ',
  })
  url: string;
}

@ApiSchema({ name: 'Report' })
export class ReportDto {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id: string;
  @ApiProperty({ example: 'ostervale-spring-travel' })
  campaign_id: string;
  @ApiProperty({ example: 'Spring travel, October' })
  title: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  as_of: string;
  @ApiProperty({ format: 'date-time', example: '2027-01-31T00:00:00.000Z' })
  expires_at: string;
  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: null })
  revoked_at: string | null;
  @ApiProperty({ example: 'Marketing' })
  created_by: string;
}

@ApiSchema({ name: 'ReadReport' })
export class ReadReportDto {
  @ApiProperty({
    description: 'The secret in the fragment of its URL',
    example: 'VXKXSi0R3l7wPo2cCzNkXvPw2Y0lIa0c1e3Gk8Yx4uQ',
  })
  @IsText(1, 200)
  secret: string;
}

/** The measures of `campaign_funnel` in a report. */
export const FUNNEL = [
  'journeys',
  'teaser_viewers',
  'reward_viewers',
  'clickers',
  'converters',
  'gift_recipients',
  'gift_openers',
  'gift_only_recipients',
  'click_rate',
  'conversion_rate',
  'events_without_journey',
] as const;
type Kind = 'teaser_views' | 'reward_views' | 'clicks' | 'conversions';
type DayFigure = Kind | `${Kind}_people`;
type Counts<Name extends string> = Partial<Record<Name, number>>;

const count = { type: 'integer' } as const;
const counts = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, count])) as Record<Name, typeof count>;
const text = { type: 'string', nullable: true } as const;
const row = (properties: Record<string, object>, required: string[], example: object) =>
  ({ type: 'array', items: { type: 'object', properties, required, example } }) as const;

const LATER =
  'Counts that end in `_before` are those of `range_before`. Reports of earlier releases lack these, and some also the counts of journeys: `clickers`, `converters`, `journeys`';
const amounts = {
  type: 'array',
  items: {
    type: 'object',
    properties: { currency: { type: 'string' }, amount: { type: 'number' } },
    required: ['currency', 'amount'],
  },
} as const;
const DAYS = row(
  {
    day: { type: 'string', format: 'date' },
    ...counts('teaser_views', 'teaser_views_people', 'reward_views', 'reward_views_people'),
    ...counts('clicks', 'clicks_people', 'conversions', 'conversions_people'),
  },
  ['day'],
  { day: '2026-10-01', teaser_views: 40, teaser_views_people: 36 },
);
type DayDto = { day: string } & Counts<DayFigure>;
export interface StepDto {
  step: string;
  count: number;
  count_before: number;
  value: { currency: string; amount: number }[];
  value_before: { currency: string; amount: number }[];
}

/** The figures at the time the report was made. */
@ApiSchema({ name: 'FrozenReport' })
export class FrozenReportDto {
  @ApiProperty({ example: 'Spring travel, October' })
  title: string;
  @ApiProperty({ required: false, description: 'Omitted if the sender wrote none', example: COMMENT })
  comment?: string;
  @ApiProperty({ example: 'Ostervale Bank' })
  account_name: string;
  @ApiProperty({ example: 'ostervale-spring-travel' })
  campaign_id: string;
  @ApiProperty({ example: 'Spring travel' })
  campaign_name: string;
  @ApiProperty({ type: ReportRangeDto })
  range: ReportRangeDto;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  as_of: string;
  @ApiProperty({ format: 'date-time', example: '2027-01-31T00:00:00.000Z' })
  expires_at: string;
  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(FUNNEL.map((name) => [name, { type: 'number', nullable: true }])),
    description:
      'The measures of `campaign_funnel`; null for a ratio whose divisor is 0. Reports of earlier releases lack `gift_only_recipients`',
    example: { journeys: 1200, teaser_viewers: 900, clickers: 300, click_rate: 0.25 },
  })
  funnel: Partial<Record<(typeof FUNNEL)[number], number | null>>;
  @ApiProperty({
    type: ReportRangeDto,
    required: false,
    description:
      'The days that the range is compared with: for a whole calendar month the month before, otherwise the same number of days before. Reports of earlier releases have neither this nor `steps`',
  })
  range_before?: ReportRangeDto;
  @ApiProperty({
    ...row(
      { step: { type: 'string' }, ...counts('count', 'count_before'), value: amounts, value_before: amounts },
      ['step', 'count', 'count_before', 'value', 'value_before'],
      {
        step: 'revealed',
        count: 40,
        count_before: 25,
        value: [{ currency: 'EUR', amount: 1000 }],
        value_before: [{ currency: 'EUR', amount: 625 }],
      },
    ),
    required: false,
    description:
      'What happened in `range` and in `range_before`: `journeys`, `clickers`, `converters`, `gift_only_recipients`, the `conversions` of people, and the reward links by state, with or without a journey. `outstanding` are the links that nobody has opened and that still work at the end of the range',
  })
  steps?: StepDto[];
  @ApiProperty({ ...DAYS, description: 'Days without events are omitted; a figure that a day lacks is 0' })
  by_day: DayDto[];
  @ApiProperty({
    ...DAYS,
    required: false,
    description: 'The same for the days of `range_before`. Reports of earlier releases lack it',
  })
  by_day_before?: DayDto[];
  @ApiProperty({
    ...row(
      {
        perk_id: { type: 'string' },
        perk_title: text,
        ...counts('clicks', 'clicks_people', 'clickers', 'conversions', 'converters'),
        ...counts('clickers_before', 'converters_before'),
      },
      ['perk_id', 'perk_title', 'clicks', 'clicks_people', 'conversions'],
      {
        ...{ perk_id: 'fernway-weekend', perk_title: 'A weekend for two' },
        ...{ clicks: 120, clicks_people: 110, clickers: 96, conversions: 9, converters: 8 },
        ...{ clickers_before: 80, converters_before: 5 },
      },
    ),
    description: `Also perks of the campaign that nobody clicked, and perks that were only clicked in \`range_before\`. ${LATER}`,
  })
  by_perk: {
    perk_id: string;
    perk_title: string | null;
    clicks: number;
    clicks_people: number;
    clickers?: number;
    conversions: number;
    converters?: number;
    clickers_before?: number;
    converters_before?: number;
  }[];
  @ApiProperty({
    ...row(
      {
        utm_source: text,
        ...counts('clicks', 'clicks_people', 'journeys', 'clickers', 'converters'),
        ...counts('journeys_before', 'clickers_before', 'converters_before'),
      },
      ['utm_source', 'clicks', 'clicks_people'],
      {
        utm_source: 'newsletter',
        ...{ clicks: 80, clicks_people: 75, journeys: 250, clickers: 70, converters: 6 },
        ...{ journeys_before: 240, clickers_before: 60, converters_before: 6 },
      },
    ),
    description: `Also sources that only had journeys in \`range_before\`. If \`steps\` has \`gift_only_recipients\`, \`journeys\` and \`journeys_before\` leave out journeys that got only a reward link. ${LATER}`,
  })
  by_source: {
    utm_source: string | null;
    clicks: number;
    clicks_people: number;
    journeys?: number;
    clickers?: number;
    converters?: number;
    journeys_before?: number;
    clickers_before?: number;
    converters_before?: number;
  }[];
}
