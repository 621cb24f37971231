// Waits until a network is Ready, or until networks are gone, with progress on stderr.

import type { Client } from '@holdfast/client'
import type { Network } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { errArea, outArea } from '../print/area.ts'
import { paint, paintState } from '../print/color.ts'
import { printError, printFailure } from '../print/failure.ts'
import { createLive } from '../print/live.ts'
import { networkMeaning, networkPhase } from '../print/network.ts'
import { plain } from '../print/plain.ts'
import { pause } from '../terminal/pause.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import { isUnavailable } from './unavailable.ts'

const POLL_MS = 500

type AwaitedNetwork = Pick<Network, 'id' | 'name'>
type Verdict = 'done' | 'failed' | 'pending'

/** Waits until the network is Ready. A network that fails ends the wait with its reason. */
export async function waitForNetwork(
  terminal: Terminal,
  client: Client,
  { id, name }: AwaitedNetwork,
  { longestMs, announce }: { readonly longestMs: number; readonly announce: boolean },
): Promise<ExitCode> {
  const waited = await poll(terminal, client, id, longestMs, judgeReady)
  if (typeof waited === 'number') return waited
  const { colored } = outArea(terminal)
  if (waited.verdict === 'done') {
    if (announce) print(terminal, `network/${name} ${paint('ready', 'green', colored)}`)
    return EXIT.ok
  }
  print(terminal, `network/${name} ${paint('not ready', 'red', colored)}`)
  const { network } = waited
  if (network === undefined) report(terminal, `${name} was deleted by someone else`)
  else report(terminal, plain(`${name}: ${networkPhase(network)}: ${networkMeaning(network)}`))
  return EXIT.notReady
}

/** Waits until the platform has deleted the networks. */
export async function waitUntilNetworksGone(
  terminal: Terminal,
  client: Client,
  networks: readonly AwaitedNetwork[],
  longestMs: number,
): Promise<ExitCode> {
  const end = terminal.now() + longestMs
  let exitCode: ExitCode = EXIT.ok
  for (const { id, name } of networks) {
    const waited = await poll(terminal, client, id, end - terminal.now(), (network) =>
      network === undefined ? 'done' : 'pending',
    )
    if (typeof waited === 'number') return waited
    if (waited.verdict === 'done') print(terminal, `network/${name} deleted`)
    else {
      printError(terminal, `${name} is still being deleted; its node must confirm that it is removed`)
      exitCode = EXIT.notReady
    }
  }
  return exitCode
}

function judgeReady(network: Network | undefined): Verdict {
  if (network === undefined || network.phase === 'Failed' || network.phase === 'Deleting') return 'failed'
  if (network.phase === 'Ready') return 'done'
  return network.reason === null ? 'pending' : 'failed'
}

interface Waited {
  readonly network: Network | undefined
  readonly verdict: Verdict
}

async function poll(
  terminal: Terminal,
  client: Client,
  id: string,
  longestMs: number,
  judge: (network: Network | undefined) => Verdict,
): Promise<Waited | ExitCode> {
  const live = createLive(terminal)
  const end = terminal.now() + longestMs
  for (;;) {
    const read = await client.networks.read(id)
    const isGone = !read.ok && read.failure.kind === 'rejected' && read.failure.status === 404
    const isOver = terminal.now() >= end
    if (read.ok || isGone) {
      const network = read.ok ? read.value : undefined
      live.show(network === undefined ? [] : [progressLine(network, errArea(terminal).colored)])
      const verdict = judge(network)
      if (verdict !== 'pending' || isOver) return { network, verdict }
    } else if (isOver || !isUnavailable(read.failure)) return printFailure(terminal, read.failure)
    else live.show(['the platform does not respond; the change is stored, still waiting'])
    if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
  }
}

const progressLine = (network: Network, colored: boolean): string =>
  `${network.name}: ${paintState(network.phase, colored)} on ${plain(network.nodeName)}`
