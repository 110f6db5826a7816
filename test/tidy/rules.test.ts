// Each tidy rule catches a planted violation, at its line, and leaves sound code alone.
import test from 'ava';
import { extensions, layering, oneDoorPerPackage, orphans, platformModules, purity, shippedPackages } from './imports.ts';
import { callsInPlace, erasable, fileLength, fileNames, functionLength, noAny, noImpl, noNonNull, opening } from './shape.ts';
import { describe, type Rule, type Source } from './source.ts';
import { lockWithoutAddresses, looseEnds, noHostPaths, noRegistryHosts } from './text.ts';

const at = (path: string, text: string): Source => ({ path, text });

/** One row: the rule, files that break it with what it says, files that do not. */
function caught(title: string, rule: Rule, bad: Source[], says: RegExp[], good: Source[]): void {
  test(`tidy: ${title}`, (t) => {
    const reports = rule(bad).map(describe);
    t.is(reports.length, says.length, reports.join('\n'));
    says.forEach((pattern, index) => {
      t.regex(reports[index] ?? '', pattern);
    });
    t.deepEqual(rule(good).map(describe), []);
  });
}

caught(
  'a layer imports what lies above it',
  layering,
  [at('src/core/a.ts', "// x\nimport { b } from '../store/b.ts';"), at('src/base/c.ts', "export type { D } from '../config/d.ts';")],
  [/^src\/core\/a\.ts:2 layer: core may import .* not store/, /^src\/base\/c\.ts:1 layer: base may import \[\], not config/],
  [at('src/core/a.ts', "import { b } from '../message/b.ts';"), at('src/broker.ts', "import { a } from './actors/log/a.ts';")],
);

caught(
  'an actor imports another actor, or src a test',
  layering,
  [at('src/actors/ingress/a.ts', "import { b } from '../dispatch.ts';"), at('src/main.ts', "import { b } from '../test/b.ts';")],
  [/another actor/, /lies outside/],
  [at('src/actors/ingress.ts', "import { b } from './ingress/b.ts';\nimport { c } from './messages.ts';")],
);

caught(
  'a folder without a row in the table, and the composition imported from below',
  layering,
  [at('src/stuff/a.ts', "import { b } from './b.ts';"), at('src/actors/a.ts', "import { t } from '../broker.ts';")],
  [/no row/, /not root/],
  [at('src/actors/a.ts', "import { t } from '../topology.ts';"), at('src/topology.ts', "import { a } from './base/a.ts';")],
);

caught(
  'a pure layer opens a file',
  purity,
  [at('src/core/a.ts', "import { readFileSync } from 'node:fs';"), at('src/message/b.ts', "const n = await import('node:net');")],
  [/core only decides/, /message only decides/],
  [at('src/message/a.ts', "import { crc32 } from 'node:zlib';")],
);

caught(
  'a package with two doors',
  oneDoorPerPackage,
  [
    at('src/config/a.ts', "import { z } from 'valibot';"),
    at('src/config/b.ts', "import * as z from 'valibot/x';"),
    at('src/store/c.ts', "import pino from 'pino';"),
  ],
  [/src\/config\/b\.ts:1 door: package valibot has its door in src\/config\/a\.ts/, /pino has its door in src\/base\/log\.ts/],
  [at('src/base/log.ts', "import pino from 'pino';"), at('test/a.ts', "import pino from 'pino';")],
);

caught(
  'files and sockets outside their doors, and modules without the node: prefix',
  platformModules,
  [at('src/store/a.ts', "import fs from 'node:fs';"), at('src/actors/b.ts', "import net from 'node:net';")],
  [/node:fs is opened only in/, /node:net is opened only in/],
  [
    at('src/store/files/a.ts', "import fs from 'node:fs';"),
    at('src/runtime/net.ts', "import net from 'node:net';"),
    at('src/actors/c.ts', "import { isIPv4 } from 'node:net';"),
  ],
);

caught(
  'src imports a development dependency',
  shippedPackages,
  [at('package.json', '{"dependencies":{"pino":"1"}}'), at('src/base/a.ts', "import fc from 'fast-check';")],
  [/fast-check is not among the dependencies/],
  [at('package.json', '{"dependencies":{"pino":"1"}}'), at('src/base/log.ts', "import pino from 'pino';")],
);

caught(
  'an import without the extension of its file',
  extensions,
  [at('src/a.ts', "import { b } from './b.js';"), at('test/a.ts', "import type { b } from '../src/b';")],
  [/src\/a\.ts:1 extension/, /test\/a\.ts:1 extension/],
  [at('src/a.ts', "import { b } from './b.ts';")],
);

caught(
  'a file that nothing reaches',
  orphans,
  [
    at('src/main.ts', "import './a.ts';"),
    at('src/a.ts', ''),
    at('src/b.ts', ''),
    at('test/b.test.ts', "import '../src/b.ts';"),
    at('test/lost.ts', ''),
  ],
  [/src\/b\.ts:1 orphan/, /test\/lost\.ts:1 orphan/],
  [at('src/c.ts', ''), at('test/x.test.ts', "import './rig.ts'; fork('./child.js')"), at('test/rig.ts', ''), at('test/child.ts', '')],
);

const lines = (count: number): string => 'let a = 0;\n'.repeat(count);

caught('a long file', fileLength, [at('src/a.ts', lines(301))], [/src\/a\.ts:301 file length: 301 lines/], [at('src/a.ts', lines(300))]);

caught(
  'a long function',
  functionLength,
  [at('src/a.ts', `// x\nfunction f() {\n${lines(69)}}`), at('src/b.ts', `class B {\n  m() {\n${lines(69)}  }\n}`)],
  [/src\/a\.ts:2 function length: 71 lines/, /src\/b\.ts:2 function length/],
  [at('src/a.ts', `const f = () => {\n${lines(68)}};`)],
);

caught(
  'the type that switches checking off',
  noAny,
  [at('src/a.ts', 'let a: any;'), at('test/b.ts', 'const b = 1 as\n  any;')],
  [/src\/a\.ts:1 any/, /test\/b\.ts:2 any/],
  [at('src/a.ts', "// any\nconst any = 'any';")],
);

caught(
  'a non-null claim',
  noNonNull,
  [at('src/a.ts', 'const b = a!.c;')],
  [/non-null/],
  [at('src/a.ts', 'const b = !a; if (a !== b) c();')],
);

caught(
  'syntax that does more than types',
  erasable,
  [at('src/a.ts', 'enum A { B }\nclass C {\n  constructor(private d: number) {}\n}')],
  [/src\/a\.ts:1 erasable: no enum/, /src\/a\.ts:3 erasable: no parameter property/],
  [at('src/a.ts', 'class C { constructor(d: number) {} }')],
);

caught(
  'a file name that says nothing',
  fileNames,
  [at('src/base/utils.ts', ''), at('test/helpers/a.ts', ''), at('src/core/topic-manager.ts', '')],
  [/"utils\.ts"/, /"helpers"/, /"topic-manager\.ts"/],
  [at('src/core/commonality.ts', '')],
);

caught('a class named Impl', noImpl, [at('src/a.ts', 'class StoreImpl {}')], [/StoreImpl/], [at('src/a.ts', 'class Implicit {}')]);

caught(
  'calls outside their places',
  callsInPlace,
  [at('src/core/a.ts', 'const t = Date.now();\nconst f = Math.random;\nsetTimeout(g, 1);\nconsole.log(1);\nprocess.exit(1);\nnew Date();')],
  [
    /:1 call: Date\.now/,
    /:2 call: Math\.random/,
    /:3 call: setTimeout/,
    /:4 call: console\.log/,
    /:5 call: process\.exit/,
    /:6 call: new Date/,
  ],
  [
    at('src/base/clock.ts', 'Date.now()'),
    at('src/core/a.ts', 'socket.setTimeout(1); new Date(5); clock.now();'),
    at('test/a.ts', 'Date.now()'),
  ],
);

caught(
  'a file that does not say what it is for',
  opening,
  [at('src/a.ts', "import './b.ts';"), at('scripts/b.mjs', '#!/usr/bin/env node\nrun();'), at('src/c.ts', '// short')],
  [/src\/a\.ts:1 opening/, /scripts\/b\.mjs:2 opening/, /src\/c\.ts:1 opening/],
  [at('src/a.ts', '// Counts what is there and says so.'), at('src/b.ts', '/**\n * Counts what is there and says so.\n */')],
);

caught(
  'a path of one machine',
  noHostPaths,
  [at('README.md', 'see\ncd /home/me/x'), at('src/a.ts', "const a = '/root/.cache';")],
  [/README\.md:2 host path/, /src\/a\.ts:1 host path/],
  [at('src/a.ts', "const a = 'src/home/x'; // a/work/b")],
);

caught(
  'a registry named',
  noRegistryHosts,
  [at('.npmrc', 'registry=https://registry.npmjs.org/')],
  [/\.npmrc:1 registry/],
  [at('.npmrc', 'save-exact=true')],
);

caught(
  'a lock file with addresses',
  lockWithoutAddresses,
  [at('package-lock.json', '{\n"resolved": "https://x/y.tgz"\n}')],
  [/package-lock\.json:2 lock file/],
  [at('package-lock.json', '{}')],
);

caught('a loose end', looseEnds, [at('src/a.ts', '// TODO: later')], [/src\/a\.ts:1 loose end/], [at('src/a.ts', '// TODO(#12): later')]);
