import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';

/**
 * Makes a member optional; null means omitted. Adds this to the OpenAPI document. Put it above the validators of the
 * member.
 */
export const IsOmittable = () =>
  applyDecorators(ApiProperty({ required: false, nullable: true }), IsOptional());
