// The world of a test of setup: machines below temporary folders, runs of setup on them, and calls of the API that they serve.

import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { engineBinary, freePorts, makeTempFolder } from '@holdfast/testkit'
import { onTestFinished } from 'vitest'
import { layoutBelow, type Ports, type SetupOptions } from './layout.ts'
import type { Machine } from './machine.ts'
import { createProcessMachine } from './process-machine.fixture.ts'
import { runSetup, type SetupOutput, type SetupRun } from './run-setup.ts'

/** A machine whose processes end with the test. */
export function openMachine(name: string) {
  const folder = makeTempFolder(name)
  const [root, engines] = [join(folder.path, 'root'), join(folder.path, 'engines')]
  for (const path of [root, engines]) mkdirSync(path)
  for (const binary of ['etcd', 'vault'] as const) symlinkSync(engineBinary(binary), join(engines, binary))
  const machine = createProcessMachine(root)
  onTestFinished(async () => {
    await machine.stop()
    folder.remove()
  })
  return { root, engines, machine }
}

export async function freeEnginePorts(): Promise<Ports> {
  const [etcd = 0, etcdPeers = 0, secretsStore = 0, secretsStoreCluster = 0, broker = 0] = await freePorts(5)
  return { etcd, etcdPeers, secretsStore, secretsStoreCluster, broker }
}

export const runOn = (machine: Machine, run: SetupRun) => collect((output) => runSetup(run, machine, output))

/** The exit code and the output of a command. */
export async function collect(command: (output: SetupOutput) => Promise<number>) {
  const [out, err]: [string[], string[]] = [[], []]
  const exitCode = await command({
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  })
  return { exitCode, out: out.join(''), err: err.join('') }
}

/** The status of a call to the server of a machine; undefined without an answer. */
export function callApi(
  { root, listenPort }: Pick<SetupOptions, 'root' | 'listenPort'>,
  method: 'GET' | 'POST',
  path: string,
  token: string,
  body?: object,
): Promise<number | undefined> {
  const ca = readFileSync(layoutBelow(root).authority.cert)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const settings = { method, ca, headers, agent: false, signal: AbortSignal.timeout(10_000) }
  return new Promise((resolve) => {
    const call = request(`https://localhost:${listenPort}${path}`, settings)
    call.once('error', () => resolve(undefined))
    call.once('response', (response) => resolve(response.resume().statusCode))
    call.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
