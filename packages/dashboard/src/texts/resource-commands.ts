// The command and the API call that do the same as the pages of jobs, volumes, networks, backups, residency and access.

import { API, type Equivalent, word } from './commands.ts'

export const resourceEquivalents = {
  backups: (): Equivalent => ({ command: 'holdfast backup list', call: `GET ${API}/backups` }),
  backup: (id: string): Equivalent => ({
    command: `holdfast backup describe ${word(id)}`,
    call: `GET ${API}/backups/${id}`,
  }),
  jobs: (): Equivalent => ({ command: 'holdfast job list', call: `GET ${API}/jobs` }),
  job: (id: string): Equivalent => ({
    command: `holdfast job describe ${word(id)}`,
    call: `GET ${API}/jobs/${id}`,
  }),
  networks: (): Equivalent => ({ command: 'holdfast network list', call: `GET ${API}/networks` }),
  residency: (): Equivalent => ({ command: 'holdfast get residency', call: `GET ${API}/residency` }),
  tokens: (tenant: string): Equivalent => ({
    command: 'holdfast token list',
    call: `GET ${API}/tenants/${tenant}/tokens`,
  }),
  volumes: (): Equivalent => ({ command: 'holdfast volume list', call: `GET ${API}/dvm/volumes` }),
  volume: (tenant: string, id: string, name: string): Equivalent => ({
    command: `holdfast volume describe ${word(name)}`,
    call: `GET ${API}/tenants/${tenant}/volumes/${id}`,
  }),
}

export const divergenceCommand = (volume: string, epoch: number): string =>
  `holdfast volume divergences download ${word(volume)} ${epoch} --to ${word(volume)}-${epoch}.tar`
