import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsText } from '@perkway/platform';
import { Type } from 'class-transformer';
import { IsISO8601, Matches, ValidateNested } from 'class-validator';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const isDay = { message: '$property must be a day as YYYY-MM-DD' };

@ApiSchema({ name: 'ReportRange' })
export class ReportRangeDto {
  @ApiProperty({ format: 'date', example: '2026-10-01' })
  @Matches(DAY, isDay)
  from: string;
  @ApiProperty({ format: 'date', description: 'Included; days are those of UTC', example: '2026-10-31' })
  @Matches(DAY, isDay)
  to: string;
}

@ApiSchema({ name: 'CreateReport' })
export class CreateReportDto {
  @ApiProperty({ example: 'ostervale-spring-travel' })
  @IsText(1, 100)
  campaignId: string;
  @ApiProperty({ type: ReportRangeDto })
  @ValidateNested()
  @Type(() => ReportRangeDto)
  range: ReportRangeDto;
  @ApiProperty({ example: 'Spring travel, October' })
  @IsText(1, 200)
  title: string;
  @ApiProperty({ format: 'date-time', example: '2027-01-31T00:00:00.000Z' })
  @IsISO8601({ strict: true })
  expiresAt: string;
}

@ApiSchema({ name: 'CreatedReport' })
export class CreatedReportDto {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id: string;
  @ApiProperty({
    description: 'Whoever has the address can read the report. It is shown this once',
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
    description: 'The fragment of its address',
    example: 'VXKXSi0R3l7wPo2cCzNkXvPw2Y0lIa0c1e3Gk8Yx4uQ',
  })
  @IsText(1, 200)
  secret: string;
}

const figures = (example: object) => ({ type: 'object', additionalProperties: true, example }) as const;
const rows = (example: object) => ({ type: 'array', items: figures(example) }) as const;

/** What was counted when it was made. */
@ApiSchema({ name: 'FrozenReport' })
export class FrozenReportDto {
  @ApiProperty({ example: 'Spring travel, October' })
  title: string;
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
    ...figures({ journeys: 1200, teaser_viewers: 900, clickers: 300, click_rate: 0.25 }),
    description: 'The measures of `campaign_funnel`',
  })
  funnel: Record<string, unknown>;
  @ApiProperty(rows({ day: '2026-10-01', teaser_views: 40, teaser_views_people: 36 }))
  by_day: Record<string, unknown>[];
  @ApiProperty(
    rows({
      perk_id: 'fernway-weekend',
      perk_title: 'A weekend for two',
      clicks: 120,
      clicks_people: 110,
      conversions: 9,
    }),
  )
  by_perk: Record<string, unknown>[];
  @ApiProperty(rows({ utm_source: 'newsletter', clicks: 80, clicks_people: 75 }))
  by_source: Record<string, unknown>[];
}
