/** Texts to choose from. */
type Choice = readonly [string, ...string[]];

/**
 * What two friends tell each other. `{name}` is who says it, `{other}` who listens; other braces are drawn from `slots`, and `key`
 * names the slot that tells one telling from another of the same topic. Questions say it in other words, most of them with
 * a word or two in common.
 */
export interface Topic {
  readonly says: Choice;
  /** What the other asks before, about half of the time; then the answer may say less. */
  readonly asks: Choice;
  readonly answers: Choice;
  readonly questions: Choice;
  /** Replies that repeat what was said: they have the words, and are not the answer. */
  readonly replies: Choice;
  readonly slots: Readonly<Record<string, Choice>>;
  readonly key: string;
}

const WHEN: Choice = [
  'yesterday',
  'last week',
  'last Friday',
  'two days ago',
  'last weekend',
  'last month',
  'on Monday',
];

export const TOPICS: readonly [Topic, ...Topic[]] = [
  {
    says: [
      'I signed up for a {what} class {when}, and it was so calming!',
      'Guess what, I joined a {what} class {when}.',
    ],
    asks: ['Have you found anything to do in the evenings?'],
    answers: ["Yes, {what}! I started {when} and I can't stop talking about it."],
    questions: ['When did {name} sign up for a {what} class?', 'When did {name} start taking {what} lessons?'],
    replies: ['A {what} class sounds wonderful, {name}! Classes like that are a great way to unwind.'],
    slots: { what: ['pottery', 'watercolor', 'salsa', 'bread baking', 'archery', 'calligraphy'], when: WHEN },
    key: 'what',
  },
  {
    says: ['We camped at {where} {when} with the kids. We roasted marshmallows and watched a meteor shower.'],
    asks: ['What have you all been up to lately?'],
    answers: ['Camping at {where}! The kids explored the forest and we roasted marshmallows {when}.'],
    questions: [
      'When did {name} go camping at {where}?',
      "What did {name}'s family do on the camping trip to {where}?",
    ],
    replies: [
      'Camping with the kids is the best, {name}. Nature always resets me.',
      'A meteor shower! What a memory for the family.',
    ],
    slots: { where: ['the lake', 'the beach', 'the mountains', 'Silver Canyon', 'the redwoods'], when: WHEN },
    key: 'where',
  },
  {
    says: ['My {kin} gave me this {thing}. It stands for {meaning}, and I wear it every day.'],
    asks: ["That's a lovely {thing}, {name}. Does it have a special meaning?"],
    answers: ['Thanks! My {kin} gave it to me, and it stands for {meaning}.'],
    questions: ["What does {name}'s {thing} symbolize?", 'Who gave {name} the {thing} as a present?'],
    replies: ['That is a precious thing to have from your {kin}. Family treasures matter.'],
    slots: {
      kin: ['grandma', 'aunt', 'brother', 'godfather'],
      thing: ['necklace', 'ring', 'bracelet', 'brooch'],
      meaning: ['love and strength', 'patience', 'our roots', 'new beginnings', 'courage'],
    },
    key: 'thing',
  },
  {
    says: ["I've been looking into {field} programs. Helping {whom} feels like what I'm meant to do."],
    asks: ['Have you thought about what you will study?', "What's next for you, {name}?"],
    answers: ['I keep coming back to {field}. I would love to work with {whom}.'],
    questions: [
      'What field would {name} be likely to pursue in education?',
      'Whom does {name} want to help with a career in {field}?',
    ],
    replies: ['You would be a great fit for {field}, {name}. Your empathy helps people.'],
    slots: {
      field: ['counseling', 'nursing', 'social work', 'speech therapy', 'marine biology'],
      whom: ['teenagers', 'veterans', 'refugees', 'stroke patients', 'sea turtles'],
    },
    key: 'field',
  },
  {
    says: ['I ran a {race} for {cause} {when}. It made me think about taking care of our minds.'],
    asks: ['You look tired, {name}! Long weekend?'],
    answers: ['I ran a {race} for {cause} {when}, and my legs still hurt.'],
    questions: ['When did {name} run a {race}?', 'What did the {race} that {name} took part in raise awareness for?'],
    replies: ['Running a {race} for a cause is so inspiring, {name}!', 'Proud of you! Did you raise much at the race?'],
    slots: {
      race: ['charity race', 'half marathon', 'night run', 'relay'],
      cause: ['mental health', 'the animal shelter', 'clean rivers', 'the children hospital'],
      when: WHEN,
    },
    key: 'race',
  },
  {
    says: ['We adopted a {pet} {when}! We named {it} {petname} and the house is chaos.'],
    asks: ['Is that a new {pet} in the photo?'],
    answers: ['Yes, meet {petname}! We brought {it} home {when}.'],
    questions: ["What is the name of {name}'s {pet}?", 'When did {name} adopt a {pet}?'],
    replies: [
      '{petname} is adorable! Pets bring so much joy to a home.',
      'Aw, hello {petname}! My sister had a {pet} too.',
    ],
    slots: {
      pet: ['kitten', 'puppy', 'parrot', 'tortoise', 'rabbit'],
      petname: ['Oscar', 'Luna', 'Biscuit', 'Pepper', 'Juno', 'Toby'],
      it: ['him', 'her'],
      when: WHEN,
    },
    key: 'pet',
  },
  {
    says: ['I finished reading "{book}" {when}. It taught me that {lesson}.'],
    asks: ['Any good books lately?', 'What are you reading these days?'],
    answers: ['"{book}", I could not put it down. It taught me that {lesson}.'],
    questions: [
      'Which book did {name} read that taught that {lesson}?',
      'What did {name} take away from the book "{book}"?',
    ],
    replies: ['I love "{book}"! Books have a way of guiding us.', 'I should read more. That book is on my shelf.'],
    slots: {
      book: ['The Quiet Orchard', 'Becoming Small', 'A Map of Salt', 'Letters to Nobody', 'The Glass Ferry'],
      lesson: [
        'it is never too late to start over',
        'small steps count',
        'asking for help is strength',
        'grief has its seasons',
      ],
    },
    key: 'book',
  },
  {
    says: [
      'I painted a {scene} {when}. Painting helps me get my feelings out.',
      'Take a look, I did a painting of a {scene} {when}.',
    ],
    asks: ['Have you made any art recently?'],
    answers: ['A {scene}, in oils. It took me until three in the morning {when}.'],
    questions: ['What did {name} paint?', 'When did {name} paint a {scene}?'],
    replies: [
      'Wow, {name}, that painting of the {scene} is stunning. The colors!',
      'Painting must be such a good outlet for you.',
    ],
    slots: {
      scene: ['sunrise over a lake', 'field of sunflowers', 'horse', 'harbor at night', 'winding road'],
      when: WHEN,
    },
    key: 'scene',
  },
  {
    says: ['I got a job at {place} {when}! I start as a {role}.'],
    asks: ['How did the interview go?'],
    answers: ['They took me! I start as a {role} at {place}.'],
    questions: ["What is {name}'s position at {place}?", 'Where did {name} find work as a {role}?'],
    replies: ['Congrats on the new job, {name}! They are lucky to have you.'],
    slots: {
      place: ['the harbor museum', 'a bakery downtown', 'the county library', 'a game studio', 'the botanical garden'],
      role: ['curator', 'barista', 'guide', 'sound designer', 'archivist'],
      when: WHEN,
    },
    key: 'place',
  },
  {
    says: ['My {kin} and I have been {state} for {years} years now. Time flies!'],
    asks: ['How long have you and your {kin} been {state}?'],
    answers: ['{years} years already! It feels like we met last summer.'],
    questions: ['How long have {name} and the {kin} been {state}?', 'For how many years has {name} been {state}?'],
    replies: ['{years} years, wow! Congratulations, {name}. Here is to many more.'],
    slots: {
      kin: ['husband', 'partner', 'wife'],
      state: ['married', 'together', 'engaged'],
      years: ['three', 'five', 'seven', 'eleven'],
    },
    key: 'state',
  },
  {
    says: ['I moved here from {country} {years} years ago, and my friends from back home still visit.'],
    asks: ['Where are you from originally?'],
    answers: ['{country}! I moved away {years} years ago, and I still miss the food.'],
    questions: ['Where did {name} move from {years} years ago?', "What is {name}'s home country?"],
    replies: ['{country} must be beautiful. Moving to another country takes courage.'],
    slots: { country: ['Sweden', 'Portugal', 'Chile', 'Vietnam', 'Kenya'], years: ['four', 'six', 'nine', 'twelve'] },
    key: 'country',
  },
  {
    says: [
      "I'm allergic to {what}, so I can't have {food}.",
      'Sadly {food} is off the table for me, I have an allergy to {what}.',
    ],
    asks: ['Shall I bring {food} to the picnic?'],
    answers: ["Please don't, {what} makes my throat swell."],
    questions: ['What is {name} allergic to?', 'Why can {name} not eat {food}?'],
    replies: ['Good to know! I will leave out the {food} then.'],
    slots: {
      what: ['peanuts', 'shellfish', 'sesame', 'strawberries'],
      food: ['satay', 'paella', 'hummus', 'shortcake'],
    },
    key: 'what',
  },
  {
    says: ['My car broke down {when} on the way to {where}. The {part} is gone, and the repair costs a fortune.'],
    asks: ['Why are you taking the bus?', 'You sounded upset on the phone.'],
    answers: ['The {part} of my car gave up {when}, on the road to {where}.'],
    questions: ["What part of {name}'s car failed?", 'Where was {name} driving to when the car broke down?'],
    replies: ['Ugh, car repairs are the worst. I hope the mechanic is honest, {name}.'],
    slots: {
      where: ['the airport', 'the coast', 'a wedding', 'the clinic'],
      part: ['gearbox', 'radiator', 'clutch', 'alternator'],
      when: WHEN,
    },
    key: 'part',
  },
  {
    says: ['Our {team} won the {cup} {when}! I scored in the last minute.'],
    asks: ['How did the game go?'],
    answers: ['We won the {cup}! The whole {team} went wild.'],
    questions: ["What did {name}'s {team} win?", 'When did {name} win the {cup}?'],
    replies: ['What a game, {name}! Winning with your team must feel amazing.'],
    slots: {
      team: ['basketball team', 'curling club', 'rowing crew', 'chess club'],
      cup: ['city cup', 'winter league', 'regional final', 'Founders Trophy'],
      when: WHEN,
    },
    key: 'cup',
  },
  {
    says: ['I learned to play the {instrument} {years} years ago, and it still calms me after work.'],
    asks: ['Do you play any instruments, {name}?'],
    answers: ['The {instrument}! It is my escape after work.'],
    questions: ['Which musical instrument does {name} play?', 'How long has {name} played the {instrument}?'],
    replies: [
      'Music is such a gift. Playing an instrument takes patience!',
      'You should play for us some day, {name}.',
    ],
    slots: {
      instrument: ['clarinet', 'violin', 'accordion', 'ukulele', 'harp'],
      years: ['two', 'five', 'eight', 'twenty'],
    },
    key: 'instrument',
  },
  {
    says: ['We are planning a trip to {where} in {month}. My {kin} has never seen the {sight}.'],
    asks: ['Any plans for the holidays?', 'What are you planning for this year?'],
    answers: ['{where} in {month}! My {kin} has always wanted to see the {sight}.'],
    questions: ['When is {name} planning to travel to {where}?', 'What does {name} want to show the {kin} in {where}?'],
    replies: ['Traveling with family is priceless. Send me pictures of the trip!'],
    slots: {
      where: ['Rome', 'Kyoto', 'Lisbon', 'Banff', 'Edinburgh'],
      month: ['March', 'June', 'September', 'December'],
      kin: ['mother', 'daughter', 'nephew', 'grandfather'],
      sight: ['cathedral', 'gardens', 'castle', 'old trams', 'glaciers'],
    },
    key: 'where',
  },
  {
    says: ['I volunteered at {place} {when}. Handing out {what} to people made me grateful.'],
    asks: ['Did you do anything meaningful this week?'],
    answers: ['I helped at {place}, handing out {what}. It made me grateful.'],
    questions: ['Where did {name} volunteer?', 'What did {name} hand out at {place}?'],
    replies: ['Volunteering at {place} is so kind of you, {name}. Giving back changes lives.'],
    slots: {
      place: ['a homeless shelter', 'the food bank', 'a nursing home', 'the youth center'],
      what: ['soup', 'blankets', 'books', 'toys'],
      when: WHEN,
    },
    key: 'place',
  },
  {
    says: ["I've decided to open {shop}. The bank approved the loan {when}, and I am terrified."],
    asks: ['What is the big news?'],
    answers: ['I am opening {shop}! The bank said yes {when}.'],
    questions: ['What business is {name} starting?', "When was {name}'s loan for {shop} approved?"],
    replies: ['Your own business! You have wanted that for years, {name}. So brave.'],
    slots: { shop: ['a dance studio', 'a bicycle workshop', 'an online clothing store', 'a tea house'], when: WHEN },
    key: 'shop',
  },
  {
    says: ['My {kin} was in hospital {when} after {mishap}, but the doctors say the recovery goes well.'],
    asks: ['Is everything all right at home?'],
    answers: ['Not really, my {kin} had {mishap} {when}. The recovery goes well though.'],
    questions: ["What happened to {name}'s {kin}?", "When did {name}'s {kin} have to go to the hospital?"],
    replies: ['Oh no, I hope your {kin} gets better soon. Hospitals are hard on families.'],
    slots: {
      kin: ['son', 'father', 'cousin', 'neighbor'],
      mishap: ['a bad fall', 'a car accident', 'a heart scare', 'an asthma attack'],
      when: WHEN,
    },
    key: 'kin',
  },
  {
    says: ['When I need to clear my head I go {activity} at {where}. It keeps me sane.'],
    asks: ['How do you de-stress, {name}?', 'What keeps you going on rough days?'],
    answers: ['{activity} at {where}. It keeps me sane.'],
    questions: ['What does {name} do to relax and destress?', 'Where does {name} go {activity}?'],
    replies: ['Me time is so important. I should try something like that to clear my head too.'],
    slots: {
      activity: ['swimming', 'birdwatching', 'climbing', 'gardening', 'skating'],
      where: ['the reservoir', 'the old quarry', 'the allotment', 'the pier'],
    },
    key: 'activity',
  },
  {
    says: ['I cooked {dish} for {whom} {when}, my first time without a recipe. They asked for seconds!'],
    asks: ['How was your dinner?', 'Did you try anything new in the kitchen?'],
    answers: ['I made {dish} without a recipe, and {whom} asked for seconds!'],
    questions: ['What did {name} cook for {whom}?', 'Whom did {name} make {dish} for?'],
    replies: ['{dish} sounds delicious, {name}! You must give me the recipe.'],
    slots: {
      dish: ['lasagna', 'pho', 'goulash', 'a mushroom pie', 'tamales'],
      whom: ['my in-laws', 'the book club', 'my roommates', 'the neighbors'],
      when: WHEN,
    },
    key: 'dish',
  },
  {
    says: ['I talked at {event} {when} about {subject}, and people came up to me in tears afterwards.'],
    asks: ['How did your speech go?'],
    answers: ['It went well! I spoke about {subject} and people came up to me in tears.'],
    questions: ['When did {name} give a speech at {event}?', 'What was the topic of the talk that {name} gave?'],
    replies: ['Speaking up like that takes guts, {name}. Sharing our stories helps others.'],
    slots: {
      event: ['a school', 'the town hall', 'a conference', 'a support group'],
      subject: ['my journey', 'losing a parent', 'living with anxiety', 'coming home from the army'],
      when: WHEN,
    },
    key: 'event',
  },
];

/** Turns that say nothing that is asked for, with words that much else has too. */
export const CHATTER: Choice = [
  'Hey {other}! Good to see you. How have you been?',
  "I'm swamped with the kids and work. What's up with you? Anything new?",
  "That's so good to hear! You always have great stories.",
  'Thanks, {other}! Your support means a lot to me.',
  'Wow, what a great photo! Where was it taken?',
  "Life is full of surprises, isn't it? We just have to keep going.",
  'I totally agree, {other}. Family and friends are what matters most.',
  'Sounds like a plan! Let me know when you have time.',
  'It was so nice catching up, {other}. Talk to you soon!',
  "Same here. Work has been a lot, but I'm learning to take breaks.",
  "You're doing great, {other}. Keep following your dreams!",
  'Haha, that is so true! My kids would love that.',
  'The weather here has been awful this week, so we stayed in.',
  'I know what you mean. It takes time to find out what makes you happy.',
  'That reminds me of our school days. Remember the summer by the lake?',
  'Absolutely! Nature and music are my favorite ways to reset.',
  'Oh wow, congrats! That is a big step, you should be proud.',
  'No worries at all. We all have days like that.',
  "I'm thinking about making some changes this year, but nothing is decided yet.",
  'Have you been to any good concerts or classes recently?',
  'My weekend was quiet. I read a book and took the kids to the park.',
  'Do you want to go running or camping together some time?',
  'I love painting and reading on rainy days, but I rarely have time for it.',
  'We should take a trip together next summer!',
];

export const NAMES: Choice = [
  'Marisol',
  'Dorian',
  'Ingrid',
  'Kofi',
  'Tamsin',
  'Ravi',
  'Odette',
  'Bram',
  'Lucia',
  'Anders',
];
