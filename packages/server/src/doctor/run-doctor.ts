// `holdfast-server doctor`: gathers facts, judges them and prints one line for each check. Changes nothing but the probe
// file of --disk.

import { existsSync } from 'node:fs'
import { env } from 'node:process'
import { VERSION } from '@holdfast/contract'
import { gatherConfig } from '../config/load-config.ts'
import type { Config } from '../config/schema.ts'
import { layoutBelow } from '../setup/layout.ts'
import { FORMS, newestForm } from '../store/records/collection.ts'
import { exitCodeOf, type Finding, type Observed, seen } from './finding.ts'
import { gatherExpiries, gatherName, gatherRoots, gatherSpace, gatherSync } from './gather-machine.ts'
import { gatherMembers } from './gather-members.ts'
import { gatherSecretsStore, gatherSkew, gatherStored, type StatedAgent } from './gather-platform.ts'
import { gatherSecretIds } from './gather-secret-ids.ts'
import { judgeAuthorities } from './judge-authorities.ts'
import { judgeCertificates } from './judge-certificates.ts'
import { judgeConfiguration } from './judge-configuration.ts'
import { judgeEtcd } from './judge-etcd.ts'
import { judgeClock, judgeName, judgeSpace, judgeSync } from './judge-machine.ts'
import { judgeEtcdMembers, judgeStoreMembers } from './judge-members.ts'
import { judgeAgents, judgeFormat } from './judge-records.ts'
import { judgeRestore } from './judge-restore.ts'
import { judgeSecretIds } from './judge-secret-ids.ts'
import { judgeSecretsStore } from './judge-secrets-store.ts'
import { printFindings, printJson } from './print-findings.ts'

export interface DoctorRun {
  readonly config: string | undefined
  readonly withDisk: boolean
  readonly asJson: boolean
  /** Folder that stands for `/`; only tests have another one. */
  readonly root?: string
}

export interface DoctorOutput {
  out(text: string): void
}

/** Returns the exit code: 0, 1 after warnings and checks that could not be made, 2 after failures. */
export async function runDoctor(run: DoctorRun, output: DoctorOutput): Promise<number> {
  const findings = await gatherFindings(run)
  output.out(run.asJson ? printJson(findings) : printFindings(findings))
  return exitCodeOf(findings)
}

async function gatherFindings(run: DoctorRun): Promise<readonly Finding[]> {
  const layout = layoutBelow(run.root ?? '/')
  const installed = existsSync(layout.serverConfig) ? layout.serverConfig : undefined
  const source = run.config ?? env.HOLDFAST_CONFIG ?? installed
  const loaded = gatherConfig(source, env)
  const judged = judgeConfiguration(loaded, source)
  if (!loaded.ok) return [judged]
  const [folders, platform] = await Promise.all([judgeFolders(run), judgePlatform(loaded.config)])
  return [judged, ...folders, ...platform]
}

/** The data folders of the engines on this machine; without any, only the root folder has space to lose. */
async function judgeFolders({ root = '/', withDisk }: DoctorRun): Promise<readonly Finding[]> {
  const { etcdData, secretsStoreData } = layoutBelow(root)
  const data = [etcdData, secretsStoreData].filter((folder) => existsSync(folder))
  const folders = data.length === 0 ? [root] : data
  const spaces = (await Promise.all(folders.map(gatherSpace))).map(judgeSpace)
  const findings: Finding[] = [...spaces]
  // One after another, because they may share a disk.
  if (withDisk) for (const folder of folders) findings.push(judgeSync(await gatherSync(folder)))
  return findings
}

async function judgePlatform(config: Config): Promise<readonly Finding[]> {
  const [name, skew, stored, expiries, members] = await Promise.all([
    gatherName(config.publicUrl),
    gatherSkew(config),
    gatherStored(config),
    gatherExpiries(config),
    gatherMembers(config),
  ])
  const secretsStore = await gatherSecretsStore(config, stored.platform)
  const secretIds = await gatherSecretIds(config)
  return [
    judgeName(name),
    judgeClock(skew),
    ...judgeEtcd(stored.etcd),
    judgeEtcdMembers({ members: members.etcd, endpoints: config.etcd.endpoints }),
    ...judgeSecretsStore(secretsStore),
    ...judgeSecretIds(secretIds, Date.now()),
    ...(members.secretsStore === undefined ? [] : [judgeStoreMembers(members.secretsStore)]),
    ...judgeCertificates([...expiries, ...members.expiries], Date.now()),
    judgeFormat({ reads: newestForm(FORMS), stored: stored.format }),
    judgeAgents({ server: VERSION, agents: versionsOf(stored.agents) }),
    ...judgeAuthorities({ roots: gatherRoots(config), agents: stored.agents }),
    judgeRestore(stored.restore),
  ]
}

const versionsOf = (agents: Observed<readonly StatedAgent[]>): Observed<readonly (string | undefined)[]> =>
  agents.kind === 'unobserved' ? agents : seen(agents.value.map(({ version }) => version))
