import { WHEN } from './topic.ts';
import type { Topic } from './topic.ts';

/** Health, cars, games, music, work, family. */
export const SECOND_TOPICS: readonly [Topic, ...Topic[]] = [
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
