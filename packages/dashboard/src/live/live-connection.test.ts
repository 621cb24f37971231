import type { ChangeStreamItem } from '@holdfast/client'
import { describe, expect, test, vi } from 'vitest'
import { type Changed, connectLive, type LiveDeps, type Message } from './live-connection.ts'
import type { LiveState } from './live-state.ts'

/** A stream that the test feeds. */
function createStream(signal: AbortSignal) {
  const items: ChangeStreamItem[] = []
  let [wake, done] = [() => {}, false]
  signal.addEventListener('abort', () => wake())
  async function* read() {
    while (!signal.aborted) {
      const item = items.shift()
      if (item !== undefined) yield item
      else if (done) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  return {
    read,
    push(item: ChangeStreamItem) {
      items.push(item)
      wake()
    },
    end() {
      done = true
      wake()
    },
  }
}

/** A browser: one lock that a single tab has, and channels that reach the other tabs. */
function createBrowser() {
  const tabs = new Set<(message: Message) => void>()
  const streams: ReturnType<typeof createStream>[] = []
  let queue: Promise<void> = Promise.resolve()
  const deps: LiveDeps = {
    follow(signal) {
      const stream = createStream(signal)
      streams.push(stream)
      return stream.read()
    },
    withLock(_, signal, run) {
      queue = queue.then(() => (signal.aborted ? undefined : run()))
      return queue
    },
    openChannel(_, onMessage) {
      tabs.add(onMessage)
      return {
        post(message) {
          for (const other of tabs) if (other !== onMessage) other(message)
        },
        close: () => void tabs.delete(onMessage),
      }
    },
    now: () => 7,
    wait: () => Promise.resolve(),
  }
  return { deps, streams }
}

function openTab(deps: LiveDeps) {
  const [states, changes]: [LiveState[], Changed[]] = [[], []]
  const live = connectLive('acme', deps, {
    onState: (state) => void states.push(state),
    onChanged: (changed) => void changes.push(changed),
  })
  return { live, states, changes }
}

const CHANGE = { kind: 'some', items: [{ resource: 'nodes', name: 'acme-1', uid: 'node_1' }] } as const

describe('several tabs of one browser', () => {
  test('open one stream, and all of them learn its state and changes', async () => {
    const { deps, streams } = createBrowser()
    const [first, second] = [openTab(deps), openTab(deps)]
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    streams[0]?.push({ kind: 'live' })
    streams[0]?.push({ kind: 'changes', items: CHANGE.items })
    await vi.waitFor(() => expect(second.changes).toEqual([{ kind: 'all' }, CHANGE]))
    expect(first.changes).toEqual(second.changes)
    expect(second.live.state()).toEqual({ kind: 'live', heardAt: 7 })
    expect(streams).toHaveLength(1)
  })

  test('a tab that opens later asks for the state', async () => {
    const { deps, streams } = createBrowser()
    openTab(deps)
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    streams[0]?.push({ kind: 'live' })
    await vi.waitFor(() => expect(openTab(deps).live.state().kind).toBe('live'))
  })

  test('another tab continues when the one with the stream closes, and reads everything again', async () => {
    const { deps, streams } = createBrowser()
    const [first, second] = [openTab(deps), openTab(deps)]
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    first.live.close()
    await vi.waitFor(() => expect(streams).toHaveLength(2))
    streams[1]?.push({ kind: 'live' })
    await vi.waitFor(() => expect(second.changes).toEqual([{ kind: 'all' }]))
  })
})

describe('a stream', () => {
  test('that resumes is not a reason to read everything again, but a resync is', async () => {
    const { deps, streams } = createBrowser()
    const { changes, states } = openTab(deps)
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    for (const kind of ['live', 'current'] as const) streams[0]?.push({ kind })
    streams[0]?.push({ kind: 'resuming', reason: 'cut' })
    streams[0]?.push({ kind: 'live' })
    streams[0]?.push({ kind: 'resync' })
    await vi.waitFor(() => expect(changes).toEqual([{ kind: 'all' }, { kind: 'all' }]))
    expect(states.map(({ kind }) => kind)).toContain('reconnecting')
  })

  test('is opened again when the network is found', async () => {
    const { deps, streams } = createBrowser()
    const { live } = openTab(deps)
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    streams[0]?.push({ kind: 'live' })
    live.network(false)
    expect(live.state().kind).toBe('offline')
    live.network(true)
    await vi.waitFor(() => expect(streams).toHaveLength(2))
  })

  test('is opened again when the network is lost, so that the old one does not call the page live', async () => {
    const { deps, streams } = createBrowser()
    const { live } = openTab(deps)
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    streams[0]?.push({ kind: 'live' })
    await vi.waitFor(() => expect(live.state().kind).toBe('live'))
    live.network(false)
    streams[0]?.push({ kind: 'live' })
    await vi.waitFor(() => expect(streams).toHaveLength(2))
    expect(live.state().kind).toBe('offline')
  })

  test('is not opened again after the sign-in has ended', async () => {
    const { deps, streams } = createBrowser()
    const { live } = openTab(deps)
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    streams[0]?.push({ kind: 'failed', failure: { kind: 'rejected', status: 401, rejections: [] } })
    streams[0]?.end()
    await vi.waitFor(() => expect(live.state()).toEqual({ kind: 'signed-out' }))
    await Promise.resolve()
    expect(streams).toHaveLength(1)
  })
})
