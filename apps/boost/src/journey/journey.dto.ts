import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { isCurrency, MAX_JOURNEY_ID_LENGTH } from '@perkway/domain';
import { IsCallerId, IsOmittable, IsText } from '@perkway/platform';
import { IsIn, IsNumber, Max, Min, ValidateBy, ValidateIf } from 'class-validator';

const EVENTS = ['teaser_view', 'reward_view', 'conversion'] as const;
const MAX_EXTERNAL_ID = 255;
/** Far above any order value, and exact to the cent as a JSON number. */
const MAX_VALUE = 1e12;

const IsCurrencyCode = () =>
  ValidateBy({
    name: 'isCurrencyCode',
    validator: {
      validate: isCurrency,
      defaultMessage: () => '$property must be an upper-case ISO 4217 code; it is required with a value',
    },
  });

@ApiSchema({ name: 'TrackJourneyEvent' })
export class TrackDto {
  @ApiProperty({ enum: EVENTS, example: 'conversion' })
  @IsIn(EVENTS)
  event: (typeof EVENTS)[number];

  @ApiProperty({
    description: 'If missing, it is derived from the campaign',
    example: 'r-4711',
  })
  @IsOmittable()
  @IsText(1, MAX_JOURNEY_ID_LENGTH)
  journeyId?: string | null;

  @ApiProperty({
    description: 'A perk of the campaign',
    example: 'fernway-weekend',
  })
  @IsOmittable()
  @IsCallerId()
  perkId?: string | null;

  @ApiProperty({
    type: Number,
    minimum: -MAX_VALUE,
    maximum: MAX_VALUE,
    description: 'Value of a conversion',
    example: 129.9,
  })
  @IsOmittable()
  @IsNumber({ allowInfinity: false, allowNaN: false })
  @Min(-MAX_VALUE)
  @Max(MAX_VALUE)
  value?: number | null;

  @ApiProperty({
    type: String,
    required: false,
    nullable: true,
    pattern: '^[A-Z]{3}$',
    description: 'Currency of the value, ISO 4217. Required for a conversion with a value',
    example: 'EUR',
  })
  @ValidateIf(
    ({ event, value, currency }: TrackDto) => currency != null || (event === 'conversion' && value != null),
  )
  @IsCurrencyCode()
  currency?: string | null;

  @ApiProperty({
    description:
      "The client's own id of a conversion. Conversions with the same id count once per account; those sent with JOURNEY keys are counted apart from the others",
    example: 'order-90210',
  })
  @IsOmittable()
  @IsText(1, MAX_EXTERNAL_ID)
  externalId?: string | null;
}

@ApiSchema({ name: 'Tracked' })
export class TrackedResource {
  @ApiProperty({ description: 'The given journey, or the one derived from the campaign', example: 'r-4711' })
  journeyId: string;
}

class MediaResource {
  @ApiProperty({ type: String, nullable: true, example: 'https://cdn.example/fernway/banner.jpg' })
  banner: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'https://cdn.example/fernway/logo.svg' })
  logo: string | null;
}

@ApiSchema({ name: 'Teaser' })
export class TeaserResource {
  @ApiProperty({ example: 'fernway-weekend' })
  perkId: string;
  @ApiProperty({ example: 'A weekend by train' })
  title: string;
  @ApiProperty({ example: '25% off' })
  callout: string;
  @ApiProperty({ example: 'Book any weekend return and save a quarter of the fare.' })
  description: string;
  @ApiProperty({ type: MediaResource })
  media: MediaResource;
}

@ApiSchema({ name: 'Reward' })
export class RewardResource extends TeaserResource {
  @ApiProperty({ example: 'The reduction is taken off when you pay.' })
  redemption_note: string;
  @ApiProperty({ example: 'Second class, any weekend of the year.' })
  details: string;
  @ApiPropertyOptional({ description: 'The shared code of a static-coupon perk', example: 'SLOWMORNING' })
  coupon?: string;
  @ApiProperty({
    format: 'uri',
    description: 'Carries the journey and the attributes of the request',
    example: 'https://boost.example.com/click?token=AQJrMVsi...',
  })
  click_url: string;
}

class JourneyResource {
  @ApiProperty({ example: 'ostervale-spring-travel' })
  campaignId: string;
  @ApiProperty({ description: 'The given journey, or the one derived from the campaign', example: 'r-4711' })
  journeyId: string;
}

@ApiSchema({ name: 'Teasers' })
export class TeasersResource extends JourneyResource {
  @ApiProperty({
    type: [TeaserResource],
    description: 'In the order of the campaign, without deleted perks',
  })
  incentives: TeaserResource[];
}

@ApiSchema({ name: 'Rewards' })
export class RewardsResource extends JourneyResource {
  @ApiProperty({
    type: [RewardResource],
    description: 'In the order of the campaign, without deleted perks',
  })
  incentives: RewardResource[];
}
