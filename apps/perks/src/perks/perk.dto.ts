import {
  ApiTranslations,
  IsCallerId,
  IsOmittable,
  IsText,
  IsTranslations,
  IsWebUrl,
  ReadBack,
  ResourceTimes,
} from '@perkway/platform';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsDefined,
  IsInt,
  IsObject,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { MAX_CATEGORY_ID } from '../categories/category-id.js';
import type { PerkTranslations } from './perk.entity.js';

/** Maximum text lengths in characters. */
const TEXT_LIMITS = {
  title: 300,
  description: 20_000,
  callout: 1_000,
  redemption_note: 5_000,
  details: 50_000,
};
const MAX_NAME = 300;
const MAX_METADATA = 5_000;
const MAX_COUPON = 255;
const MAX_CODES_PER_ACCOUNT = 1_000_000_000;
const MAX_PLACE = 100;
const MAX_LOCATIONS = 1_000;
const MAX_CATEGORIES = 100;

@ApiSchema({ name: 'Partner' })
export class PartnerDto {
  @ApiProperty({ example: 'quillon' })
  @IsText(1, 100)
  id: string;

  @ApiProperty({ example: 'Quillon Stays' })
  @IsText(1, MAX_NAME)
  name: string;
}

@ApiSchema({ name: 'PutMedia' })
export class MediaDto {
  @ApiProperty({ example: 'https://media.quillon.example/banner.jpg' })
  @IsOmittable()
  @IsWebUrl()
  banner?: string | null;

  @ApiProperty({ example: 'https://media.quillon.example/logo.svg' })
  @IsOmittable()
  @IsWebUrl()
  logo?: string | null;
}

@ApiSchema({ name: 'PutLocation' })
export class LocationDto {
  @ApiProperty({ example: 'FR' })
  @IsText(1, MAX_PLACE)
  country: string;

  @ApiProperty({ example: 'Île-de-France' })
  @IsOmittable()
  @IsText(1, MAX_PLACE)
  region?: string | null;

  @ApiProperty({ example: 'Paris' })
  @IsOmittable()
  @IsText(1, MAX_PLACE)
  city?: string | null;
}

@ReadBack()
@ApiSchema({ name: 'PutPerk' })
export class PutPerkDto {
  @ApiProperty({ example: 'Stay three nights, pay for two' })
  @IsText(1, TEXT_LIMITS.title)
  title: string;

  @ApiProperty({ example: 'The cheapest of every three nights is free.' })
  @IsText(0, TEXT_LIMITS.description)
  description: string;

  @ApiProperty({ example: 'Third night free' })
  @IsText(0, TEXT_LIMITS.callout)
  callout: string;

  @ApiProperty({ example: 'Taken off automatically.' })
  @IsText(0, TEXT_LIMITS.redemption_note)
  redemption_note: string;

  @ApiProperty({ example: 'For stays that include a night from Sunday to Thursday.' })
  @IsText(0, TEXT_LIMITS.details)
  details: string;

  @ApiProperty({
    description: 'Where the customer is redirected: an absolute http(s) URL without user or password',
    example: 'https://quillon.example/three-for-two',
  })
  @IsWebUrl()
  offer_url: string;

  @ApiProperty({
    description: 'Stable text id',
    example: 'quillon-third-night-free',
  })
  @IsCallerId()
  offer_slug: string;

  @ApiProperty({
    description: 'The shared code of a static-coupon perk; not allowed together with is_coupon_perk',
    example: 'SLOWMORNING',
  })
  @IsOmittable()
  @IsText(1, MAX_COUPON)
  coupon?: string | null;

  @ApiProperty({
    type: Boolean,
    description: 'If true, each customer gets a code of their own. Default: false',
  })
  @IsOmittable()
  @IsBoolean()
  is_coupon_perk?: boolean | null;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_CODES_PER_ACCOUNT,
    description:
      'Maximum number of single-use codes for the customers of one account. If omitted, accounts share the stock',
    example: 500,
  })
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(MAX_CODES_PER_ACCOUNT)
  codes_per_account?: number | null;

  @ApiProperty({
    description: 'Free-text keywords for on-page search',
    example: 'hotel city break boutique',
  })
  @IsOmittable()
  @IsText(0, MAX_METADATA)
  metadata?: string | null;

  @ApiProperty()
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => PartnerDto)
  partner: PartnerDto;

  @ApiProperty({
    type: 'array',
    items: { type: 'integer', minimum: 1, maximum: MAX_CATEGORY_ID },
    maxItems: MAX_CATEGORIES,
    uniqueItems: true,
    description: 'Ids of existing categories',
    example: [1],
  })
  @IsArray()
  @ArrayMaxSize(MAX_CATEGORIES)
  @ArrayUnique({ message: '$property must not name a category twice' })
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_CATEGORY_ID, { each: true })
  categories: number[];

  @ApiProperty({ type: MediaDto })
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => MediaDto)
  media?: MediaDto | null;

  @ApiProperty({
    type: [LocationDto],
    maxItems: MAX_LOCATIONS,
    description: 'Where the perk can be redeemed; everywhere if empty',
  })
  @IsOmittable()
  @IsArray()
  @ArrayMaxSize(MAX_LOCATIONS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => LocationDto)
  locations?: LocationDto[] | null;

  @ApiProperty({ example: { fr: { title: 'Trois nuits pour le prix de deux' } } })
  @IsOmittable()
  @IsTranslations(TEXT_LIMITS)
  translations?: PerkTranslations | null;
}

@ApiSchema({ name: 'Media' })
export class MediaResource {
  @ApiProperty({ type: String, nullable: true, example: 'https://media.quillon.example/banner.jpg' })
  banner: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'https://media.quillon.example/logo.svg' })
  logo: string | null;
}

@ApiSchema({ name: 'Location' })
export class LocationResource {
  @ApiProperty({ example: 'FR' })
  country: string;
  @ApiPropertyOptional({ description: 'If absent, the whole country', example: 'Île-de-France' })
  region?: string;
  @ApiPropertyOptional({ description: 'If absent, the whole region', example: 'Paris' })
  city?: string;
}

/** A stored perk: the body of the PUT with its defaults filled in. */
@ApiSchema({ name: 'StoredPerk' })
export class PerkResource extends ResourceTimes {
  @ApiProperty({ example: 'quillon-third-night' })
  id: string;
  @ApiProperty({ example: 'Stay three nights, pay for two' })
  title: string;
  @ApiProperty({ example: 'The cheapest of every three nights is free.' })
  description: string;
  @ApiProperty({ example: 'Third night free' })
  callout: string;
  @ApiProperty({ example: 'Taken off automatically.' })
  redemption_note: string;
  @ApiProperty({ example: 'For stays that include a night from Sunday to Thursday.' })
  details: string;
  @ApiProperty({ example: 'https://quillon.example/three-for-two' })
  offer_url: string;
  @ApiProperty({ example: 'quillon-third-night-free' })
  offer_slug: string;
  @ApiPropertyOptional({ description: 'Absent if the perk has no shared code', example: 'SLOWMORNING' })
  coupon?: string;
  @ApiProperty({ example: false })
  is_coupon_perk: boolean;
  @ApiPropertyOptional({
    type: 'integer',
    description: 'If absent, accounts share the stock of single-use codes',
    example: 500,
  })
  codes_per_account?: number;
  @ApiProperty({ example: 'hotel city break boutique' })
  metadata: string;
  @ApiProperty({ type: PartnerDto })
  partner: { id: string; name: string };
  @ApiProperty({ type: 'array', items: { type: 'integer' }, description: 'Ascending', example: [1] })
  categories: number[];
  @ApiProperty({ type: MediaResource })
  media: MediaResource;
  @ApiProperty({ type: [LocationResource] })
  locations: LocationResource[];
  @ApiProperty({ example: { fr: { title: 'Trois nuits pour le prix de deux' } } })
  @ApiTranslations(TEXT_LIMITS)
  translations: PerkTranslations;
}
