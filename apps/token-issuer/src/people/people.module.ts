import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { PeopleController } from './people.controller.js';
import { PeopleService } from './people.service.js';
import { PersonEntity } from './person.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, PersonEntity])],
  controllers: [PeopleController],
  providers: [PeopleService],
})
export class PeopleModule {}
