import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ConsoleKeysModule } from '../console-keys/console-keys.module.js';
import { PeopleController } from './people.controller.js';
import { PeopleService } from './people.service.js';
import { PersonEntity } from './person.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, PersonEntity]), ConsoleKeysModule],
  controllers: [PeopleController],
  providers: [PeopleService],
})
export class PeopleModule {}
