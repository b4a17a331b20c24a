import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';

/** May be left out, and null means the same. Documents itself; stands above what is said of the value if there is one. */
export const IsOmittable = () =>
  applyDecorators(ApiProperty({ required: false, nullable: true }), IsOptional());
