import {
  ApiTranslations,
  IsCallerId,
  IsOmittable,
  IsText,
  IsTranslations,
  ReadBack,
  ResourceTimes,
} from '@perkway/platform';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsInt, IsObject, IsUUID, Max, Min, ValidateNested } from 'class-validator';

const MAX_NAME = 200;
const MAX_GROUPS = 1_000;
const MAX_PERKS_IN_GROUP = 5_000;
const MAX_INT = 2_147_483_647;

const IsRank = () =>
  applyDecorators(
    ApiProperty({
      type: 'integer',
      minimum: -MAX_INT,
      maximum: MAX_INT,
      description: 'The lowest rank shows first',
      example: 1,
    }),
    IsInt(),
    Min(-MAX_INT),
    Max(MAX_INT),
  );

const IsListOf = (member: new () => object, maxItems: number) =>
  applyDecorators(
    ApiProperty({ type: [member], maxItems }),
    IsArray(),
    ArrayMaxSize(maxItems),
    IsObject({ each: true }),
    ValidateNested({ each: true }),
    Type(() => member),
  );

export type GroupTranslations = Record<string, { name?: string }>;

@ApiSchema({ name: 'GroupPerk' })
export class GroupPerkDto {
  @ApiProperty({ example: 'quillon-third-night' })
  @IsCallerId()
  id: string;

  @IsRank()
  rank: number;
}

@ApiSchema({ name: 'PutGroup' })
export class GroupDto {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description:
      'If omitted, the group gets a UUID derived from the id of the collection and the name of the group',
    example: '5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01',
  })
  @IsOmittable()
  @IsUUID('all')
  id?: string | null;

  @ApiProperty({ example: 'Sleep well' })
  @IsText(1, MAX_NAME)
  name: string;

  @IsRank()
  rank: number;

  @ApiProperty({ example: { fr: { name: 'Bien dormir' } } })
  @IsOmittable()
  @IsTranslations({ name: MAX_NAME })
  translations?: GroupTranslations | null;

  @IsListOf(GroupPerkDto, MAX_PERKS_IN_GROUP)
  perks: GroupPerkDto[];
}

@ReadBack()
@ApiSchema({ name: 'PutPerkCollection' })
export class PutCollectionDto {
  @ApiProperty({ description: 'Id of an existing account', example: 'ostervale-bank' })
  @IsCallerId()
  owner: string;

  @IsListOf(GroupDto, MAX_GROUPS)
  groups: GroupDto[];
}

@ApiSchema({ name: 'StoredGroup' })
export class GroupResource {
  @ApiProperty({ format: 'uuid', example: '5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01' })
  id: string;
  @ApiProperty({ example: 'Sleep well' })
  name: string;
  @ApiProperty({ type: 'integer', example: 1 })
  rank: number;
  @ApiPropertyOptional({ example: { fr: { name: 'Bien dormir' } } })
  @ApiTranslations({ name: MAX_NAME })
  translations?: GroupTranslations;
  @ApiProperty({ type: [GroupPerkDto], description: 'Sorted by rank' })
  perks: { id: string; rank: number }[];
}

/** A stored collection. */
@ApiSchema({ name: 'StoredPerkCollection' })
export class CollectionResource extends ResourceTimes {
  @ApiProperty({ example: 'ostervale-travel' })
  id: string;
  @ApiProperty({ example: 'ostervale-bank' })
  owner: string;
  @ApiProperty({ type: [GroupResource], description: 'Sorted by rank' })
  groups: GroupResource[];
}
