// Which scenarios of the conformance kit must pass by now, and which wait for a later issue and why.

/** Rows: the names as a pattern, then what they wait for; rows without that are due now. The first row that matches a name counts. */
export const rows = {
  java: [
    { names: '^raw: ' },
    { names: '^send: ' },
    { names: '^push: ' },
    { names: '^content: ' },
    { names: '^refuse: ' },
    { names: '^pull: ' },
    { names: '^pull status: ' },
    { names: '^route: ' },
    { names: '^offset: ' },
    { names: '^name server: ' },
    { names: '^restart: (messages|producer and consumer|a group goes on|a delayed|an ordered)' },
    { names: '^restart: a pending half', later: 'transactions' },
    { names: '^(orderly|retry|delay|group|clients|query|request|reset|clone|topic): ' },
    // They pass; but for progress the kit opens a client for each look, and closes hundreds of them one after the other.
    { names: '^(slow|progress): ', long: true },
    { names: '^(broker|mqadmin): ' },
    { names: '^(filter|transaction|trace|pop|timer|v5 .*): ', later: 'filters, transactions and what only 5.x has' },
  ],
  go: [
    { names: '^(route-unknown|auto-create|send-.*|body-.*|unicode|compression)$' },
    { names: '^(push-thousand|tags|tag-unicode-filter|members-share|member-leaves|from-.*|offset-kept|long-poll)$' },
    { names: '^(pull-.*|admin-topics)$' },
    { names: '^restart-(messages-kept|offsets-kept|live-clients|delayed)$' },
    { names: '^(broadcast|orderly|retry-.*|dead-letter|delay-levels|request-.*|trace|admin-groups)$' },
    { names: '^(sql92)$', later: 'filters' },
    { names: '^tx-', later: 'transactions' },
  ],
  node: [
    { names: '^(route-unknown|auto-create|create-topic|send-.*|body-.*|unicode|compression|no-tag)$' },
    // Wants all old messages although the consumer asks for the end: Apache's rule, which is a switch here (parts.mjs, apacheRule).
    { names: '^from-last-young-topic$', later: 'due with newGroupOffset=apache' },
    { names: '^(push-thousand|push-parallel|tags|members-share|member-leaves|from-(first|last|timestamp)|offset-kept|long-poll|pull)$' },
    { names: '^restart-(messages-kept|offsets-kept|live-clients)$' },
    { names: '^(broadcast|orderly|retry|dead-letter|delay-levels|request-reply)$' },
    { names: '^sql92$', later: 'filters' },
    { names: '^transaction$', later: 'transactions' },
  ],
};

/** One pattern for the kit's --only: all that is due for a client; what takes minutes only where that is asked for. */
export function due(client, long = false) {
  return rows[client]
    .filter((row) => row.later === undefined && (long || row.long !== true))
    .map((row) => row.names)
    .join('|');
}

/** Names that no row knows: the kit has grown, and the table has to say where they belong. */
export function unknown(client, names) {
  return names.filter((name) => !rows[client].some((row) => new RegExp(row.names).test(name)));
}
