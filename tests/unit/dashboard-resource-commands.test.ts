// The commands on the pages of jobs, volumes, networks, backups, residency and access are command lines that the CLI accepts.

import { accessTexts } from '@holdfast/dashboard/texts/en/access'
import { backupTexts } from '@holdfast/dashboard/texts/en/backups'
import { jobTexts } from '@holdfast/dashboard/texts/en/jobs'
import { networkTexts } from '@holdfast/dashboard/texts/en/networks'
import { residencyTexts } from '@holdfast/dashboard/texts/en/residency'
import { volumeTexts } from '@holdfast/dashboard/texts/en/volumes'
import { divergenceCommand, resourceEquivalents as same } from '@holdfast/dashboard/texts/resource-commands'
import { expect, test } from 'vitest'
import { chosenCommand } from './chosen-command.ts'

/** Each command with the name under which the CLI knows it. */
const SHOWN = {
  backups: [same.backups().command, 'backup list'],
  backup: [same.backup('bak_1').command, 'backup describe'],
  jobs: [same.jobs().command, 'job list'],
  job: [same.job('job_1').command, 'job describe'],
  networks: [same.networks().command, 'network list'],
  residency: [same.residency().command, 'get'],
  tokens: [same.tokens('t').command, 'token list'],
  volumes: [same.volumes().command, 'volume list'],
  volume: [same.volume('t', 'vol_1', 'data').command, 'volume describe'],
} satisfies { readonly [kind in keyof typeof same]: readonly [string, string] }

const TAUGHT: readonly (readonly [string, string])[] = [
  [networkTexts.emptyCommand, 'network create'],
  [jobTexts.emptyCommand, 'run'],
  [backupTexts.emptyCommand, 'backup create'],
  [residencyTexts.emptyCommand, 'node join-token'],
  [accessTexts.emptyCommand, 'token create'],
  [volumeTexts.emptyCommand, 'volume create'],
  [divergenceCommand('data', 2), 'volume divergences download'],
]

test.each([...Object.values(SHOWN), ...TAUGHT])('%s', async (typed, name) => {
  expect(await chosenCommand(typed)).toBe(name)
})
