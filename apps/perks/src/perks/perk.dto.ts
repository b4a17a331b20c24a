import { CALLER_ID_PATTERN } from '@perkway/domain';
import { IsCallerId, IsText } from '@perkway/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsDefined,
  IsInt,
  IsObject,
  IsOptional,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { MAX_CATEGORY_ID } from '../categories/category-id.js';
import { IsTranslations, IsWebUrl } from '../text/validators.js';
import type { PerkTranslations } from './perk.entity.js';

/** Longest texts, in characters. */
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
const MAX_PLACE = 100;
const MAX_LOCATIONS = 1_000;
const MAX_CATEGORIES = 100;

export class PartnerDto {
  @ApiProperty({ minLength: 1, maxLength: 100, example: 'quillon' })
  @IsText(1, 100)
  id: string;

  @ApiProperty({ minLength: 1, maxLength: MAX_NAME, example: 'Quillon Stays' })
  @IsText(1, MAX_NAME)
  name: string;
}

export class MediaDto {
  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://media.quillon.example/banner.jpg' })
  @IsOptional()
  @IsWebUrl()
  banner?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://media.quillon.example/logo.svg' })
  @IsOptional()
  @IsWebUrl()
  logo?: string | null;
}

export class LocationDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_PLACE, example: 'FR' })
  @IsText(1, MAX_PLACE)
  country: string;

  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_PLACE, example: 'Île-de-France' })
  @IsOptional()
  @IsText(1, MAX_PLACE)
  region?: string | null;

  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_PLACE, example: 'Paris' })
  @IsOptional()
  @IsText(1, MAX_PLACE)
  city?: string | null;
}

export class PutPerkDto {
  @ApiProperty({ minLength: 1, maxLength: TEXT_LIMITS.title, example: 'Stay three nights, pay for two' })
  @IsText(1, TEXT_LIMITS.title)
  title: string;

  @ApiProperty({ maxLength: TEXT_LIMITS.description, example: 'The cheapest of every three nights is free.' })
  @IsText(0, TEXT_LIMITS.description)
  description: string;

  @ApiProperty({ maxLength: TEXT_LIMITS.callout, example: 'Third night free' })
  @IsText(0, TEXT_LIMITS.callout)
  callout: string;

  @ApiProperty({ maxLength: TEXT_LIMITS.redemption_note, example: 'Taken off automatically.' })
  @IsText(0, TEXT_LIMITS.redemption_note)
  redemption_note: string;

  @ApiProperty({
    maxLength: TEXT_LIMITS.details,
    example: 'For stays that include a night from Sunday to Thursday.',
  })
  @IsText(0, TEXT_LIMITS.details)
  details: string;

  @ApiProperty({
    description: 'Where the customer is sent: absolute http(s), without user or password',
    maxLength: 2_048,
    example: 'https://quillon.example/three-for-two',
  })
  @IsWebUrl()
  offer_url: string;

  @ApiProperty({
    description: 'Stable text id',
    pattern: CALLER_ID_PATTERN,
    example: 'quillon-third-night-free',
  })
  @IsCallerId()
  offer_slug: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The shared code of a static-coupon perk; not together with is_coupon_perk',
    minLength: 1,
    maxLength: MAX_COUPON,
    example: 'SLOWMORNING',
  })
  @IsOptional()
  @IsText(1, MAX_COUPON)
  coupon?: string | null;

  @ApiPropertyOptional({ description: 'True: each customer gets a code of their own', default: false })
  @IsOptional()
  @IsBoolean()
  is_coupon_perk?: boolean | null;

  @ApiPropertyOptional({ maxLength: MAX_METADATA, default: '', example: 'hotel city break boutique' })
  @IsOptional()
  @IsText(0, MAX_METADATA)
  metadata?: string | null;

  @ApiProperty()
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => PartnerDto)
  partner: PartnerDto;

  @ApiProperty({ description: 'Ids of existing categories', type: [Number], example: [1] })
  @IsArray()
  @ArrayMaxSize(MAX_CATEGORIES)
  @ArrayUnique({ message: '$property must not name a category twice' })
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_CATEGORY_ID, { each: true })
  categories: number[];

  @ApiPropertyOptional()
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => MediaDto)
  media?: MediaDto | null;

  @ApiPropertyOptional({ type: [LocationDto], description: 'Where it is redeemable; empty: everywhere' })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_LOCATIONS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => LocationDto)
  locations?: LocationDto[] | null;

  @ApiPropertyOptional({
    type: 'object',
    description: 'title, description, callout, redemption_note and details by language tag',
    additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
    example: { fr: { title: 'Trois nuits pour le prix de deux' } },
  })
  @IsOptional()
  @IsTranslations(TEXT_LIMITS)
  translations?: PerkTranslations | null;
}

/** A perk as it is stored: the body of the PUT with everything that was left out filled in. */
export class PerkResource {
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
  @ApiPropertyOptional({ description: 'Absent if there is none', example: 'SLOWMORNING' })
  coupon?: string;
  @ApiProperty({ example: false })
  is_coupon_perk: boolean;
  @ApiProperty({ example: 'hotel city break boutique' })
  metadata: string;
  @ApiProperty({ type: PartnerDto })
  partner: { id: string; name: string };
  @ApiProperty({ type: [Number], description: 'Ascending', example: [1] })
  categories: number[];
  @ApiProperty({ type: MediaDto })
  media: { banner: string | null; logo: string | null };
  @ApiProperty({ type: [LocationDto] })
  locations: { country: string; region?: string; city?: string }[];
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
    example: { fr: { title: 'Trois nuits pour le prix de deux' } },
  })
  translations: PerkTranslations;
}
